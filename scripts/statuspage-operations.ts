/**
 * What Atlassian documents of Statuspage's manage API (version 1.0.0 of its OpenAPI document): the status of success of each
 * operation, and the keys of what is answered. From these and from our own table follow the table in `docs/manage-api.md`
 * and its test.
 */

import { matchOperation } from '../src/incidents/operations.ts';

/** Methods of each path with their status. */
const DOCUMENTED: Readonly<Record<string, string>> = {
  pages: 'GET 200',
  'pages/{page_id}': 'GET 200, PATCH 200, PUT 200',
  'pages/{page_id}/page_access_users': 'GET 200, POST 200',
  'pages/{page_id}/page_access_users/{page_access_user_id}': 'DELETE 204, GET 200, PATCH 200, PUT 200',
  'pages/{page_id}/page_access_users/{page_access_user_id}/components':
    'DELETE 200, GET 200, PATCH 200, POST 201, PUT 200',
  'pages/{page_id}/page_access_users/{page_access_user_id}/components/{component_id}': 'DELETE 200',
  'pages/{page_id}/page_access_users/{page_access_user_id}/metrics':
    'DELETE 200, GET 200, PATCH 200, POST 201, PUT 200',
  'pages/{page_id}/page_access_users/{page_access_user_id}/metrics/{metric_id}': 'DELETE 200',
  'pages/{page_id}/page_access_groups': 'GET 200, POST 201',
  'pages/{page_id}/page_access_groups/{page_access_group_id}': 'DELETE 200, GET 200, PATCH 200, PUT 200',
  'pages/{page_id}/page_access_groups/{page_access_group_id}/components':
    'DELETE 200, GET 200, PATCH 200, POST 201, PUT 200',
  'pages/{page_id}/page_access_groups/{page_access_group_id}/components/{component_id}': 'DELETE 200',
  'pages/{page_id}/subscribers/resend_confirmation': 'POST 201',
  'pages/{page_id}/subscribers/unsubscribe': 'POST 201',
  'pages/{page_id}/subscribers/reactivate': 'POST 201',
  'pages/{page_id}/subscribers/histogram_by_state': 'GET 200',
  'pages/{page_id}/subscribers/count': 'GET 200',
  'pages/{page_id}/subscribers/unsubscribed': 'GET 200',
  'pages/{page_id}/subscribers': 'GET 200, POST 201',
  'pages/{page_id}/subscribers/{subscriber_id}/resend_confirmation': 'POST 201',
  'pages/{page_id}/subscribers/{subscriber_id}': 'DELETE 200, GET 200, PATCH 200',
  'pages/{page_id}/incident_templates': 'GET 200, POST 201',
  'pages/{page_id}/incidents': 'GET 200, POST 201',
  'pages/{page_id}/incidents/active_maintenance': 'GET 200',
  'pages/{page_id}/incidents/upcoming': 'GET 200',
  'pages/{page_id}/incidents/scheduled': 'GET 200',
  'pages/{page_id}/incidents/unresolved': 'GET 200',
  'pages/{page_id}/incidents/{incident_id}': 'DELETE 200, GET 200, PATCH 200, PUT 200',
  'pages/{page_id}/incidents/{incident_id}/incident_updates/{incident_update_id}': 'PATCH 200, PUT 200',
  'pages/{page_id}/incidents/{incident_id}/subscribers': 'GET 200, POST 201',
  'pages/{page_id}/incidents/{incident_id}/subscribers/{subscriber_id}': 'DELETE 200, GET 200',
  'pages/{page_id}/incidents/{incident_id}/subscribers/{subscriber_id}/resend_confirmation': 'POST 201',
  'pages/{page_id}/incidents/{incident_id}/postmortem': 'DELETE 204, GET 200, PUT 200',
  'pages/{page_id}/incidents/{incident_id}/postmortem/publish': 'PUT 200',
  'pages/{page_id}/incidents/{incident_id}/postmortem/revert': 'PUT 200',
  'pages/{page_id}/components': 'GET 200, POST 201',
  'pages/{page_id}/components/{component_id}': 'DELETE 204, GET 200, PATCH 200, PUT 200',
  'pages/{page_id}/components/{component_id}/uptime': 'GET 200',
  'pages/{page_id}/components/{component_id}/page_access_users': 'DELETE 200, POST 201',
  'pages/{page_id}/components/{component_id}/page_access_groups': 'DELETE 200, POST 201',
  'pages/{page_id}/component-groups': 'GET 200, POST 201',
  'pages/{page_id}/component-groups/{id}': 'DELETE 200, GET 200, PATCH 200, PUT 200',
  'pages/{page_id}/component-groups/{id}/uptime': 'GET 200',
  'pages/{page_id}/metrics/data': 'POST 202',
  'pages/{page_id}/metrics': 'GET 200',
  'pages/{page_id}/metrics/{metric_id}': 'DELETE 200, GET 200, PATCH 200, PUT 200',
  'pages/{page_id}/metrics/{metric_id}/data': 'DELETE 200, POST 201',
  'pages/{page_id}/metrics_providers': 'GET 200, POST 201',
  'pages/{page_id}/metrics_providers/{metrics_provider_id}': 'DELETE 200, GET 200, PATCH 200, PUT 200',
  'pages/{page_id}/metrics_providers/{metrics_provider_id}/metrics': 'GET 200, POST 201',
  'pages/{page_id}/status_embed_config': 'GET 200, PATCH 200, PUT 200',
  'organizations/{organization_id}/permissions/{user_id}': 'GET 200, PUT 200',
  'organizations/{organization_id}/users/{user_id}': 'DELETE 200',
  'organizations/{organization_id}/users': 'GET 200, POST 201',
};

/** Keys of each thing. */
export const DOCUMENTED_KEYS = {
  IncidentTemplate: 'id components name title body group_id update_status should_tweet should_send_notifications',
  Page: 'id created_at updated_at name page_description headline branding subdomain domain url support_url hidden_from_search allow_page_subscribers allow_incident_subscribers allow_email_subscribers allow_sms_subscribers allow_rss_atom_feeds allow_webhook_subscribers notifications_from_email notifications_email_footer activity_score twitter_username viewers_must_be_team_members ip_restrictions city state country time_zone css_body_background_color css_font_color css_light_font_color css_greens css_yellows css_oranges css_blues css_reds css_border_color css_graph_color css_link_color css_no_data favicon_logo transactional_logo hero_cover email_logo twitter_logo',
  Component:
    'id page_id group_id created_at updated_at group name description position status showcase only_show_if_degraded automation_email start_date',
  GroupComponent: 'id page_id name description components position created_at updated_at',
  Incident:
    'id components created_at impact impact_override incident_updates reminder_intervals metadata monitoring_at name page_id postmortem_body postmortem_body_last_updated_at postmortem_ignored postmortem_notified_subscribers postmortem_notified_twitter postmortem_published_at resolved_at scheduled_auto_completed scheduled_auto_in_progress scheduled_for auto_transition_deliver_notifications_at_end auto_transition_deliver_notifications_at_start auto_transition_to_maintenance_state auto_transition_to_operational_state scheduled_remind_prior scheduled_reminded_at scheduled_until shortlink status updated_at',
  IncidentUpdate:
    'id incident_id affected_components body created_at custom_tweet deliver_notifications display_at status tweet_id twitter_updated_at updated_at wants_twitter_update',
  Postmortem:
    'preview_key body body_updated_at body_draft body_draft_updated_at published_at notify_subscribers notify_twitter custom_tweet created_at updated_at',
  Subscriber:
    'id skip_confirmation_notification mode email endpoint phone_number phone_country display_phone_number obfuscated_channel_name workspace_name quarantined_at purge_at components page_access_user_id created_at',
} as const;

export interface DocumentedOperation {
  readonly method: string;
  readonly path: string;
  /** Of success. */
  readonly status: number;
  readonly verdict: 'same' | 'differs' | 'not here';
  /** What differs, or what to use instead; empty: nothing. */
  readonly note: string;
}

/** Every documented operation, and what Pharos makes of it. */
export function documentedOperations(): readonly DocumentedOperation[] {
  return Object.entries(DOCUMENTED).flatMap(([path, methods]) =>
    methods.split(', ').map((one): DocumentedOperation => {
      const [method = '', status] = one.split(' ');
      const { operation, absent } = matchOperation(method, path.split('/'));
      const known = { method, path, status: Number(status) };
      if (operation === null)
        return { ...known, verdict: 'not here', note: absent?.reason ?? 'Nothing is known of it.' };
      return { ...known, verdict: operation.differs === undefined ? 'same' : 'differs', note: operation.differs ?? '' };
    }),
  );
}

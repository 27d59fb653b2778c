/** Operations on pages: those that a token may read, as they are defined. */

import { z } from 'zod';
import { toIso } from '../model/time.ts';
import type { ResolvedPage } from '../publish/definitions/definitions.ts';
import { readPages, type StoredPage } from '../store/pages.ts';
import { shortId } from '../views/text/addresses.ts';
import { v2Page } from '../views/v2/documents.ts';
import { type Call, type Operation, partOf, read } from './operation.ts';

/** The page's id, the same as in the v2 JSON. */
export function pageId({ definition }: ResolvedPage): string {
  return shortId('page', definition.id);
}

/** What Statuspage says of a page and Pharos has nothing for. */
const NOTHING = [
  ...['headline', 'branding', 'notifications_from_email', 'notifications_email_footer', 'activity_score'],
  ...['twitter_username', 'viewers_must_be_team_members', 'ip_restrictions', 'city', 'state', 'country'],
  ...['css_body_background_color', 'css_font_color', 'css_light_font_color', 'css_greens', 'css_yellows'],
  ...['css_oranges', 'css_blues', 'css_reds', 'css_border_color', 'css_graph_color', 'css_link_color', 'css_no_data'],
  ...['favicon_logo', 'transactional_logo', 'hero_cover', 'email_logo', 'twitter_logo'],
] as const;

const PageAnswerSchema = z.object({
  id: z.string(),
  created_at: z.string().nullable().describe('Null: it was there before Pharos recorded this.'),
  updated_at: z.string().nullable().describe('Null in the list.'),
  name: z.string(),
  page_description: z.string().nullable(),
  subdomain: z.string().describe('The slug.'),
  domain: z.string().nullable(),
  url: z.string(),
  support_url: z.string().nullable(),
  hidden_from_search: z.boolean(),
  allow_page_subscribers: z.boolean(),
  allow_incident_subscribers: z.boolean(),
  allow_email_subscribers: z.boolean(),
  allow_sms_subscribers: z.boolean(),
  allow_rss_atom_feeds: z.boolean(),
  allow_webhook_subscribers: z.boolean(),
  time_zone: z.string(),
  ...(Object.fromEntries(NOTHING.map((name) => [name, z.null()])) as Record<(typeof NOTHING)[number], z.ZodNull>),
});

function pageAnswer(page: ResolvedPage, stored: readonly StoredPage[], updatedAt: string | null): unknown {
  const { definition, settings, identity } = page;
  const beganAt = stored.find(({ key }) => key === identity.key)?.beganAt ?? 0;
  return {
    id: pageId(page),
    created_at: beganAt === 0 ? null : toIso(beganAt),
    updated_at: updatedAt,
    name: definition.title,
    page_description: definition.description,
    subdomain: definition.slug,
    domain: definition.customDomain,
    url: settings.url,
    support_url: definition.contactUrl,
    hidden_from_search: !settings.allowIndex,
    allow_page_subscribers: settings.subscriptions,
    allow_incident_subscribers: false,
    allow_email_subscribers: settings.subscriptions,
    allow_sms_subscribers: false,
    allow_rss_atom_feeds: true,
    allow_webhook_subscribers: false,
    time_zone: settings.timezone,
    ...Object.fromEntries(NOTHING.map((name) => [name, null])),
  };
}

const TemplateAnswerSchema = z.object({
  id: z.string(),
  name: z.string(),
  title: z.string().describe('For `name` of an incident.'),
  body: z.string(),
  update_status: z.string().describe('For `status`; `scheduled`: of a maintenance.'),
  components: z.record(z.string(), z.string()).describe('For `components`, by their id in the configuration.'),
  group_id: z.null(),
  should_tweet: z.literal(false),
  should_send_notifications: z.literal(true),
});

export const PAGE_OPERATIONS: readonly Operation[] = [
  read({
    id: 'listPages',
    summary: 'The pages that the token may read, at most 100 at once',
    path: 'pages',
    answer: z.array(PageAnswerSchema),
    query: ['page', 'per_page'],
    differs: 'lists the pages that the token is for, at most 100 at once; `updated_at` is null',
    run: async ({ pages, query, database }) => {
      const stored = await readPages(database);
      return partOf(pages, query).map((page) => pageAnswer(page, stored, null));
    },
  }),
  read({
    id: 'getPage',
    summary: 'One page, by its id or slug',
    path: 'pages/{page}',
    answer: PageAnswerSchema,
    differs: 'settings that Pharos doesn’t have are null',
    run: async ({ load, database }: Call) => {
      const { page, model } = await load();
      return pageAnswer(page, await readPages(database), v2Page(model).updated_at);
    },
  }),
  read({
    id: 'listIncidentTemplates',
    summary: 'Templates for frequent incidents, from incident_templates in the configuration',
    path: 'pages/{page}/incident_templates',
    answer: z.array(TemplateAnswerSchema),
    query: ['page', 'per_page'],
    differs: '`components` are states by component id',
    run: async ({ templates, query, author }) =>
      partOf(templates(), query).map(({ name, title, body, kind, status, components }) => ({
        id: shortId('template', author.page.key, name),
        name,
        title,
        body,
        update_status: kind === 'incident' ? status : 'scheduled',
        components,
        ...{ group_id: null, should_tweet: false, should_send_notifications: true },
      })),
  }),
];

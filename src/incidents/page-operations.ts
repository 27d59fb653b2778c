/** API operations on pages and their subscribers. */

import { z } from 'zod';
import { parseEmailAddress } from '../mail/mail.ts';
import { toIso } from '../model/time.ts';
import {
  addOne,
  eraseSubscriber,
  type ListedSubscriber,
  listSubscribers,
  subscriberById,
} from '../notify/subscribers.ts';
import type { ResolvedPage } from '../publish/definitions/definitions.ts';
import { readPages, type StoredPage } from '../store/pages.ts';
import { shortId } from '../views/text/addresses.ts';
import { v2Page } from '../views/v2/documents.ts';
import { fields } from './answers.ts';
import { type Call, listPart, type Operation, required, resource, writeAndPublish } from './operation.ts';
import { faultAt, isSet, NewSubscriberSchema, Refusal, readRequest } from './requests.ts';
import { requireOnPage, writeAudit } from './writing-page.ts';

/** The page's id, the same as in the v2 JSON. */
export function pageId({ definition }: ResolvedPage): string {
  return shortId('page', definition.id);
}

/** Statuspage’s fields that Pharos has nothing for. */
const nulls = <Name extends string>(...names: readonly Name[]) => fields(z.null(), ...names);

/** Their values in an answer. */
function nullsOf({ shape }: z.ZodObject): Readonly<Record<string, null>> {
  const names = Object.keys(shape).filter((name) => shape[name] instanceof z.ZodNull);
  return Object.fromEntries(names.map((name) => [name, null]));
}

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
  ...fields(z.boolean(), 'hidden_from_search', 'allow_page_subscribers', 'allow_incident_subscribers'),
  ...fields(z.boolean(), 'allow_email_subscribers', 'allow_sms_subscribers', 'allow_rss_atom_feeds'),
  allow_webhook_subscribers: z.boolean(),
  time_zone: z.string(),
  ...nulls('headline', 'branding', 'notifications_from_email', 'notifications_email_footer', 'activity_score'),
  ...nulls('twitter_username', 'viewers_must_be_team_members', 'ip_restrictions', 'city', 'state', 'country'),
  ...nulls('css_body_background_color', 'css_font_color', 'css_light_font_color', 'css_greens', 'css_yellows'),
  ...nulls('css_oranges', 'css_blues', 'css_reds', 'css_border_color', 'css_graph_color', 'css_link_color'),
  ...nulls('css_no_data', 'favicon_logo', 'transactional_logo', 'hero_cover', 'email_logo', 'twitter_logo'),
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
    ...nullsOf(PageAnswerSchema),
  };
}

const TemplateAnswerSchema = z.object({
  id: z.string(),
  name: z.string(),
  title: z.string().describe('For `name` of an incident.'),
  body: z.string(),
  update_status: z.string().describe('For `status`; `scheduled`: of a maintenance.'),
  components: z.record(z.string(), z.string()).describe('For `components`, by their id in the configuration.'),
  ...nulls('group_id'),
  should_tweet: z.literal(false),
  should_send_notifications: z.literal(true),
});

const pages = resource('read', PageAnswerSchema, ({ database }) => readPages(database));
const templates = resource('read', TemplateAnswerSchema, (call) => call.templates());

export const PAGE_OPERATIONS: readonly Operation[] = [
  pages.list('listPages', 'pages', {
    summary: 'The pages that the token may read, at most 100 at once',
    differs: 'lists the pages that the token is for, at most 100 at once; `updated_at` is null',
    run: ({ pages: all, query }, stored) => listPart(all, query).map((page) => pageAnswer(page, stored, null)),
  }),
  pages.get('getPage', 'pages/{page}', {
    summary: 'One page, by its id or slug',
    differs: 'settings that Pharos doesn’t have are null',
    run: async ({ load }, stored) => {
      const { page, model } = await load();
      return pageAnswer(page, stored, v2Page(model).updated_at);
    },
  }),
  templates.list('listIncidentTemplates', 'pages/{page}/incident_templates', {
    summary: 'Templates for frequent incidents, from incident_templates in the configuration',
    differs: '`components` are states by component id',
    run: ({ query, author }, known) =>
      listPart(known, query).map(({ name, title, body, kind, status, components }) => ({
        id: shortId('template', author.page.key, name),
        ...{ name, title, body, update_status: kind === 'incident' ? status : 'scheduled', components },
        ...{ group_id: null, should_tweet: false, should_send_notifications: true },
      })),
  }),
];

/** Operations on a page's subscribers. New ones have to confirm, as on the page itself. */
const SubscriberAnswerSchema = z.object({
  id: z.string(),
  mode: z.literal('email'),
  email: z.string().nullable().describe('Null: it was encrypted with a key that is gone.'),
  state: z.enum(['active', 'unconfirmed', 'quarantined']).describe('quarantined: they paused it.'),
  components: z.array(z.string()).nullable().describe('Null: all of the page.'),
  created_at: z.string(),
  quarantined_at: z.null(),
  purge_at: z.null(),
  skip_confirmation_notification: z.literal(false),
  ...nulls('endpoint', 'phone_number', 'phone_country', 'display_phone_number', 'obfuscated_channel_name'),
  ...nulls('workspace_name', 'page_access_user_id'),
});

const STATES = { active: 'active', pending: 'unconfirmed', paused: 'quarantined' } as const;

const SUBSCRIBERS = 'pages/{page}/subscribers';
const ONE = `${SUBSCRIBERS}/{subscriber}`;
/** Each begins with the page, whose model isn’t needed. */
const subscribers = resource('subscribers', SubscriberAnswerSchema, ({ pages: all, author }) =>
  required(all.find(({ identity }) => identity.key === author.page.key)),
);
/** Reading addresses needs the scope, too. */
const scope = 'subscribers';

export const SUBSCRIBER_OPERATIONS: readonly Operation[] = [
  subscribers.list('listSubscribers', SUBSCRIBERS, {
    summary: 'Subscribers of the page, oldest first',
    scope,
    query: ['q', 'type', 'state', 'limit', 'page'],
    differs: 'only email; oldest first, at most 100 at once; `quarantined` are those who paused',
    run: async (call, page) => {
      const { query, database, author } = call;
      const state = query.get('state') ?? 'active';
      if (!['all', ...Object.values(STATES)].includes(state))
        throw faultAt('state', 'expected active, unconfirmed, quarantined or all');
      const wanted = (query.get('q') ?? '').toLowerCase();
      const isOther = ![null, '', 'email'].includes(query.get('type'));
      const all = isOther ? [] : await listSubscribers(database, call.subscribers.seal, author.page.key);
      const found = all.filter(
        (one) => (state === 'all' || STATES[one.state] === state) && (one.address ?? '').toLowerCase().includes(wanted),
      );
      return listPart(found, query, 0).map((one) => subscriberAnswer(page, one));
    },
  }),
  subscribers.create('createSubscriber', SUBSCRIBERS, {
    summary: 'Add a subscriber, who gets a link to confirm and nothing else until then',
    body: NewSubscriberSchema,
    differs: 'only email, and every subscriber has to confirm',
    run: createSubscriber,
  }),
  subscribers.get('getSubscriber', ONE, {
    summary: 'One subscriber',
    scope,
    run: async (call, page) => subscriberAnswer(page, await subscriberIn(call, call.params['subscriber'] ?? '')),
  }),
  subscribers.remove('deleteSubscriber', ONE, {
    summary: 'Unsubscribe somebody and delete the address',
    differs: 'deletes the address; nobody is notified of it',
    run: async (call, page) => {
      const one = await subscriberIn(call, call.params['subscriber'] ?? '');
      await writeAndPublish(call, async (tx) => {
        await eraseSubscriber(tx, one.id);
        await writeAudit(tx, call.author, 'subscriber-remove', '1');
        return one.id;
      });
      await call.database.truncateLog();
      return subscriberAnswer(page, one);
    },
  }),
];

async function createSubscriber(call: Call, page: ResolvedPage): Promise<unknown> {
  const { subscriber } = readRequest(NewSubscriberSchema, call.body);
  const { author, subscribers } = call;
  const writing = await call.load();
  if (!page.settings.subscriptions)
    throw new Refusal(409, 'Subscriptions are off for this page. Set subscriptions: true in the configuration.');
  if (isSet(subscriber.skip_confirmation_notification, false))
    throw faultAt(
      'subscriber.skip_confirmation_notification',
      'must be false: subscribers confirm by a link that they get',
    );
  const email = parseEmailAddress(subscriber.email);
  if (email === null) throw faultAt('subscriber.email', 'expected an email address; nothing else is supported');
  const components = (subscriber.component_ids ?? []).map((id, index) =>
    requireOnPage('component', writing, id, `subscriber.component_ids.${index}`),
  );
  const gate = subscribers.gateOf(page.definition.slug);
  const id = await writeAndPublish(call, async (tx) => {
    const added = { page: author.page.key, email, components, gate, isConfirmed: false };
    const fresh = await addOne(tx, { ...subscribers, now: author.now }, added);
    if (fresh === null) throw faultAt('subscriber.email', 'is subscribed already, or was sent a link to confirm');
    await writeAudit(tx, author, 'subscriber-add', '1');
    return fresh;
  });
  return subscriberAnswer(page, await subscriberIn(call, id));
}

/** @throws Refusal 404 if the page has no subscriber with this id */
async function subscriberIn({ database, subscribers, author }: Call, id: string): Promise<ListedSubscriber> {
  const one = await subscriberById(database, id);
  const found = required(one?.page === author.page.key ? one : null);
  return { ...found, address: subscribers.seal.open(found.address, id) };
}

function subscriberAnswer({ definition }: ResolvedPage, one: ListedSubscriber): unknown {
  const { id, address, state, components, createdAt } = one;
  const shown = definition.components.filter((component) => components.includes(component.id));
  return {
    ...nullsOf(SubscriberAnswerSchema),
    ...{ id, mode: 'email', email: address, state: STATES[state], created_at: toIso(createdAt) },
    components: components.length === 0 ? null : shown.map((known) => shortId('component', definition.id, known.id)),
    skip_confirmation_notification: false,
  };
}

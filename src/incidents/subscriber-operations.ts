/** Operations on the subscribers of a page. Whoever is added has to confirm, as on the page itself. */

import { z } from 'zod';
import { parseEmailAddress } from '../mail/email-address.ts';
import { toIso } from '../model/time.ts';
import { addOne, type ListedSubscriber, listSubscribers } from '../notify/subscriber-list.ts';
import { eraseSubscriber, subscriberById } from '../notify/subscribers.ts';
import { shortId } from '../views/text/addresses.ts';
import { type Call, done, notThere, type Operation, partOf } from './operation.ts';
import { faultAt, Refusal } from './refusal.ts';
import { isSet, NewSubscriberSchema, readRequest } from './requests.ts';
import { noteAs } from './writer.ts';
import { findComponent, type WritingPage } from './writing-page.ts';

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
  endpoint: z.null(),
  phone_number: z.null(),
  phone_country: z.null(),
  display_phone_number: z.null(),
  obfuscated_channel_name: z.null(),
  workspace_name: z.null(),
  page_access_user_id: z.null(),
});

const STATES = { active: 'active', pending: 'unconfirmed', paused: 'quarantined' } as const;
const NONE = Object.fromEntries(
  Object.entries(SubscriberAnswerSchema.shape).flatMap(([name, schema]) =>
    schema instanceof z.ZodNull ? [[name, null]] : [],
  ),
);

const SUBSCRIBERS = 'pages/{page}/subscribers';
const ONE = `${SUBSCRIBERS}/{subscriber}`;
const common = { scope: 'subscribers', body: null, status: 200, answer: SubscriberAnswerSchema } as const;

export const SUBSCRIBER_OPERATIONS: readonly Operation[] = [
  {
    ...common,
    id: 'listSubscribers',
    summary: 'Subscribers of the page, oldest first',
    methods: ['GET'],
    path: SUBSCRIBERS,
    answer: z.array(SubscriberAnswerSchema),
    query: ['q', 'type', 'state', 'limit', 'page'],
    differs: 'only email; oldest first, at most 100 at once; `quarantined` are those who paused',
    run: async (call) => {
      const { query } = call;
      const state = query.get('state') ?? 'active';
      if (!['all', ...Object.values(STATES)].includes(state))
        throw faultAt('state', 'expected active, unconfirmed, quarantined or all');
      const wanted = (query.get('q') ?? '').toLowerCase();
      const isWanted = (one: ListedSubscriber): boolean =>
        (state === 'all' || STATES[one.state] === state) && (one.address ?? '').toLowerCase().includes(wanted);
      const isOther = ![null, '', 'email'].includes(query.get('type'));
      const found = isOther ? [] : (await subscribersOf(call)).filter(isWanted);
      const { page } = await call.load();
      return partOf(found, query, 0).map((one) => subscriberAnswer(page, one));
    },
  },
  {
    ...common,
    id: 'createSubscriber',
    summary: 'Add a subscriber, who gets a link to confirm and nothing else until then',
    methods: ['POST'],
    path: SUBSCRIBERS,
    body: NewSubscriberSchema,
    status: 201,
    differs: 'only email, and every subscriber has to confirm',
    run: createSubscriber,
  },
  {
    ...common,
    id: 'getSubscriber',
    summary: 'One subscriber',
    methods: ['GET'],
    path: ONE,
    run: async (call) =>
      subscriberAnswer((await call.load()).page, await subscriberIn(call, call.params['subscriber'] ?? '')),
  },
  {
    ...common,
    id: 'deleteSubscriber',
    summary: 'Unsubscribe somebody and delete the address',
    methods: ['DELETE'],
    path: ONE,
    differs: 'deletes the address; nobody is notified of it',
    run: async (call) => {
      const one = await subscriberIn(call, call.params['subscriber'] ?? '');
      const answer = subscriberAnswer((await call.load()).page, one);
      await done(call, async (tx) => {
        await eraseSubscriber(tx, one.id);
        await noteAs(tx, call.author, { action: 'subscriber-remove', outcome: '1' });
        return one.id;
      });
      await call.database.truncateLog();
      return answer;
    },
  },
];

async function createSubscriber(call: Call): Promise<unknown> {
  const { subscriber } = readRequest(NewSubscriberSchema, call.body);
  const { author, subscribers } = call;
  const writing = await call.load();
  const { page } = writing;
  if (!page.settings.subscriptions)
    throw new Refusal(409, 'Subscriptions are off for this page. Set subscriptions: true in the configuration.');
  if (isSet(subscriber.skip_confirmation_notification, false))
    throw faultAt(
      'subscriber.skip_confirmation_notification',
      'must be false: subscribers confirm by a link that they get',
    );
  const email = parseEmailAddress(subscriber.email);
  if (email === null) throw faultAt('subscriber.email', 'expected an email address; nothing else is supported');
  const components = (subscriber.component_ids ?? []).map((id, index) => {
    const found = findComponent(writing, id);
    if (found !== null) return found;
    throw faultAt(`subscriber.component_ids.${index}`, 'No such component on this page. GET components lists them.');
  });
  const gate = subscribers.gateOf(page.definition.slug);
  const { id } = await done(call, async (tx) => {
    const added = { page: author.page.key, email, components, gate, isConfirmed: false };
    const fresh = await addOne(tx, { ...subscribers, now: author.now }, added);
    if (fresh === null) throw faultAt('subscriber.email', 'is subscribed already, or was sent a link to confirm');
    await noteAs(tx, author, { action: 'subscriber-add', outcome: '1' });
    return fresh;
  });
  return subscriberAnswer(page, await subscriberIn(call, id));
}

function subscribersOf({ database, subscribers, author }: Call): Promise<readonly ListedSubscriber[]> {
  return listSubscribers(database, subscribers.seal, author.page.key);
}

/** @throws Refusal 404 where the page has none of this id */
async function subscriberIn({ database, subscribers, author }: Call, id: string): Promise<ListedSubscriber> {
  const found = await subscriberById(database, id);
  if (found?.page !== author.page.key) throw notThere();
  return { ...found, address: subscribers.seal.open(found.address, id) };
}

function subscriberAnswer({ definition }: WritingPage['page'], one: ListedSubscriber): unknown {
  const { id, address, state, components, createdAt } = one;
  const shown = definition.components.filter((component) => components.includes(component.id));
  return {
    ...NONE,
    ...{ id, mode: 'email', email: address, state: STATES[state], created_at: toIso(createdAt) },
    components: components.length === 0 ? null : shown.map((known) => shortId('component', definition.id, known.id)),
    skip_confirmation_notification: false,
  };
}

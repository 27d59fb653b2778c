/**
 * Pages below `subscribe/`, where visitors subscribe and manage their subscription. GET changes nothing, because email scanners
 * open every link.
 */

import { LRUCache } from 'lru-cache';
import { type GateRequest, type GateResponse, isSameOrigin, isSameOriginOrOpaque, safeBase } from '../access/access.ts';
import type { Attempts } from '../access/attempts.ts';
import { newToken, type RandomBytes, type Revealing } from '../access/digest.ts';
import { documentAnswer, type LoginHtml } from '../access/login/login-documents.ts';
import { goTo } from '../access/visit.ts';
import { canonicalMailbox, parseEmailAddress } from '../mail/mail.ts';
import { type PageKey, splitLocale } from '../model/slugs.ts';
import { type EpochMs, HOUR_MS } from '../model/time.ts';
import type { Database, Row, Writer } from '../store/database.ts';
import { type SubscribeInit, type SubscribeView, subscribeView } from '../views/subscribe/subscribe.ts';
import type { NamedPart } from './news.ts';
import { queueLink, readFormComponents } from './queue.ts';
import {
  type AddressSeal,
  addSubscriber,
  changeSubscriber,
  confirmSubscriber,
  eraseSubscriber,
  gateVersion,
  linkToken,
  mayReceive,
  readLinkToken,
  type SubscribablePage,
  type Subscriber,
  subscriberById,
  textOn,
} from './subscribers.ts';

interface SubscriptionsOptions {
  readonly database: Database;
  readonly key: Revealing;
  readonly seal: AddressSeal;
  readonly random: RandomBytes;
  readonly attempts: Attempts;
  /** The page; null: it doesn't exist, or has no subscriptions. */
  readonly pageOf: (slug: string) => SubscribablePage | null;
  /** Language for pages that no longer exist. */
  readonly locale: () => string;
  readonly render: RenderSubscribe;
  /** Called when a request was recorded; it is handled after the response was sent. */
  readonly onRequest: () => void;
  /** Called when a subscription was deleted. */
  readonly onErased: () => void;
}

interface Call {
  readonly options: SubscriptionsOptions;
  readonly request: GateRequest;
  /** Language of the address; empty: the page's default. */
  readonly locale: string;
  readonly known: SubscribablePage | null;
  /** Null: the visitor may not see the page. */
  readonly seen: SubscribablePage | null;
  /** From the link; empty: none. */
  readonly token: string;
  readonly show: (
    answer: Partial<SubscribeInit> & Pick<SubscribeInit, 'step'>,
    status?: number,
  ) => Promise<GateResponse>;
}

type Act = (call: Call) => GateResponse | null | Promise<GateResponse | null>;

const ROUTES: Readonly<Record<string, { readonly get: Act; readonly post?: Act }>> = {
  subscribe: { get: (call) => (call.seen === null ? null : askAgain(call, {}, 200)), post: subscribe },
  'subscribe/sent': { get: (call) => (call.seen === null ? null : call.show({ step: 'sent' })) },
  'subscribe/confirm': {
    get: onLink('confirm', ({ show, token }) => show({ step: 'confirm', token })),
    post: onLink('confirm', confirm),
  },
  'subscribe/manage': {
    get: onLink('manage', (call, found) => (found.state === 'pending' ? null : managed(call, found, false))),
    post: onLink('manage', manage),
  },
  'subscribe/leave': { get: onLink('manage', ({ show, token }) => show({ step: 'leave', token })), post: leave },
};

export type Subscriptions = ReturnType<typeof createSubscriptions>;

export function createSubscriptions(options: SubscriptionsOptions) {
  const show = createSubscribeDocuments(options.render);
  return {
    /**
     * Handles a request below `subscribe/`. Null: respond as for a page that doesn't exist.
     *
     * @param isSeen  whether the visitor may see the page
     */
    handle: async (request: GateRequest, isSeen: boolean): Promise<GateResponse | null> => {
      const { locale: folder, rest } = splitLocale(request.path);
      const name = rest.replace(/\/$/, '');
      const route = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined;
      const act = request.method === 'POST' ? route?.post : route?.get;
      const known = options.pageOf(request.slug);
      const locale = known?.locales?.find((one) => one === folder) ?? null;
      // Links in emails outlive the languages of their page.
      if (locale !== folder && !/^subscribe\/(?:confirm|manage|leave)$/.test(name)) return null;
      const base = locale === null ? request.base : `${request.base}${locale}/`;
      const common: SubscribeInit = {
        step: 'ask',
        fault: null,
        minutes: 0,
        locale: locale ?? known?.page.locale ?? options.locale(),
        title: known === null ? null : textOn(known.page, locale ?? '', known.page.title, known.titles),
        base: safeBase(base),
        token: '',
        components: [],
        state: 'active',
        isSaved: false,
      };
      const call: Call = {
        options,
        request: { ...request, base },
        locale: locale ?? '',
        known,
        seen: isSeen ? known : null,
        token: request.form.get('token') ?? request.query.get('token') ?? '',
        show: (answer, status = 200) => show({ ...common, ...answer }, status),
      };
      return (await act?.(call)) ?? null;
    },
  };
}

/** Longer than any address. */
const EMAIL_CHARS_MAX = 320;

/** The page's components, with names in the language of the request. */
async function formComponents({ options, known, locale }: Call) {
  if (known === null) return [];
  const named = (part: NamedPart) => {
    const { text: name, ...lang } = textOn(known.page, locale, part.name, part.names);
    return { id: part.id, name, ...lang };
  };
  return ((await readFormComponents(options.database, known.identity)) ?? []).map(({ group = null, ...one }) => ({
    ...named(one),
    group: group === null ? null : named(group),
  }));
}

async function askAgain(call: Call, over: Partial<SubscribeInit>, status: number): Promise<GateResponse> {
  const { show, request } = call;
  const components = await formComponents(call);
  const email = (request.form.get('email') ?? '').slice(0, EMAIL_CHARS_MAX);
  const ask = { components: components.map((one) => ({ ...one, isChosen: false })), email };
  return show({ step: 'ask', ...ask, ...over }, status);
}

/** Records the request and responds. Neither the response nor its timing reveals whether an email is sent. */
async function subscribe(call: Call): Promise<GateResponse | null> {
  const { options, request, seen, locale } = call;
  if (seen === null) return null;
  if (!isSameOrigin(request)) return askAgain(call, { fault: 'refused' }, 403);
  const typed = request.form.get('email') ?? '';
  if (typed.trim() === '') return askAgain(call, { fault: 'invalid' }, 400);
  const { slug, clientAddress, now } = request;
  const { key: page } = seen.identity;
  const admission = await options.attempts.admit({ kind: 'subscribe', slug, clientAddress, now });
  if (!admission.isAdmitted) {
    const minutes = Math.ceil(admission.retryAfterMs / 60_000);
    return askAgain(call, { fault: 'limited', minutes }, 429);
  }
  const email = parseEmailAddress(typed);
  const gate = gateVersion(seen.gated);
  const isAllowed = email !== null && mayReceive(seen, email.address, gate);
  const mailbox = email === null ? typed : canonicalMailbox(email);
  const components = await chosenComponents(call);
  await options.database.transaction(async (tx) => {
    const isCounted = await options.attempts.countMail(tx, 'subscription', mailbox, now);
    // The same statement for every address; without one, no email is sent.
    const address = isAllowed && isCounted ? email.address : '';
    const id = newToken(options.random);
    await tx.run(
      'INSERT INTO subscriber_request (id, page, address, components, gate, locale, at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      [id, page, options.seal.seal(address, id), JSON.stringify(components), gate, locale, now],
    );
  });
  options.onRequest();
  return goTo({ base: safeBase(request.base) }, 'subscribe/sent/');
}

/** The selected components. Selecting all is stored as none, which includes components added later. */
async function chosenComponents({ options, request, known }: Call): Promise<readonly string[]> {
  const components = (known && (await readFormComponents(options.database, known.identity))) ?? [];
  const [ticked, groups] = [new Set(request.form.getAll('component')), new Set(request.form.getAll('group'))];
  const chosen = components.filter(({ id, group }) => ticked.has(id) || (group != null && groups.has(group.id)));
  return chosen.length === components.length ? [] : chosen.map(({ id }) => id);
}

/** Acts on the subscription that a link is for. Without one, or if that returns null, the link has expired. */
function onLink(purpose: 'confirm' | 'manage', act: (call: Call, found: Subscriber) => ReturnType<Act>): Act {
  return async (call) => {
    const found = await presented(call, purpose);
    return (found === null ? null : await act(call, found)) ?? expired(call);
  };
}

async function confirm({ options, request, show }: Call, { id }: Subscriber): Promise<GateResponse | null> {
  if (!isSameOriginOrOpaque(request)) return null;
  await options.database.transaction((tx) => confirmSubscriber(tx, id, request.now));
  return show({ step: 'confirmed', token: linkToken(options.key, 'manage', id) });
}

async function managed(call: Call, found: Subscriber, isSaved: boolean): Promise<GateResponse | null> {
  const { known } = call;
  const isAllowed = mayReceive(known, openAddress(call, found), found.gate);
  const components = isAllowed ? await formComponents(call) : [];
  return call.show({
    step: 'manage',
    token: call.token,
    state: isAllowed ? (found.state === 'paused' ? 'paused' : 'active') : 'stopped',
    components: components.map((one) => ({ ...one, isChosen: found.components.includes(one.id) })),
    isSaved,
  });
}

async function manage(call: Call, found: Subscriber): Promise<GateResponse | null> {
  const { options, request, seen } = call;
  if (found.state === 'pending' || !isSameOriginOrOpaque(request)) return null;
  const action = request.form.get('action');
  const changed: Subscriber = {
    ...found,
    ...(action === 'save' ? { components: await chosenComponents(call) } : {}),
    ...(action === 'pause' ? { state: 'paused' } : {}),
    // Whoever sees the page has passed its current gate.
    ...(action === 'resume' ? { state: 'active', gate: seen === null ? found.gate : gateVersion(seen.gated) } : {}),
  };
  await options.database.transaction((tx) => changeSubscriber(tx, changed));
  return managed(call, changed, true);
}

/**
 * Unsubscribes. Mail programs also send this by themselves (RFC 8058), with nothing but the token. The subscription is
 * deleted at any address, whatever has become of the page; only the response depends on the page.
 */
async function leave(call: Call): Promise<GateResponse | null> {
  const { options } = call;
  const found = await presented(call, 'manage');
  const id = readLinkToken(options.key, 'manage', call.token);
  const isErased = id !== null && (await options.database.transaction((tx) => eraseSubscriber(tx, id)));
  if (isErased) options.onErased();
  // Sending it twice is fine.
  const isDone = found !== null || (id !== null && !isErased && call.seen !== null);
  return isDone ? call.show({ step: 'left' }) : expired(call);
}

function openAddress({ options }: Call, { address, id }: Subscriber): string {
  return options.seal.open(address, id) ?? '';
}

/**
 * The subscription of a token, if it belongs to this page and its owner may know about the page: they see it, or may
 * receive its notices. It is read before the page is checked, so that the response takes as long for any page.
 */
async function presented(call: Call, purpose: 'confirm' | 'manage'): Promise<Subscriber | null> {
  const { options, known, seen } = call;
  const id = readLinkToken(options.key, purpose, call.token);
  const found = id === null ? null : await subscriberById(options.database, id);
  if (found === null) return null;
  const isAllowed = mayReceive(known, openAddress(call, found), found.gate) || seen !== null;
  return isAllowed && found.page === known?.identity.key ? found : null;
}

/** Says that a link has expired, if the visitor may see the page. */
async function expired(call: Call): Promise<GateResponse | null> {
  return call.seen === null ? null : call.show({ step: 'expired' }, 404);
}

/** Renders the pages of subscriptions. What differs only by visitor is filled in afterwards, so each page is rendered once. */
type RenderSubscribe = (view: SubscribeView) => Promise<LoginHtml>;

/** Placeholders for values that differ between requests; letters and dashes survive any escaping. */
const PLACES = { base: '/place-of-base/', token: 'place-of-token' } as const;
/** Rendered pages kept in memory. */
const KEPT_MAX = 200;

function createSubscribeDocuments(render: RenderSubscribe) {
  const drawn: LRUCache<string, Promise<LoginHtml>, SubscribeInit> = new LRUCache({
    max: KEPT_MAX,
    memoMethod: (key, _old, { context }) => {
      const made = render(subscribeView(context));
      made.catch(() => drawn.delete(key));
      return made;
    },
  });
  return async (init: SubscribeInit, status: number): Promise<GateResponse> => {
    const hasToken = init.token !== '';
    const context = { ...init, base: PLACES.base, token: hasToken ? PLACES.token : '' };
    const document = await drawn.memo(JSON.stringify(context), { context });
    const values: Readonly<Record<string, string>> = { [PLACES.base]: init.base, [PLACES.token]: init.token };
    return documentAnswer(document, { status, values, hasSecretAddress: hasToken });
  };
}

// Records every request of the subscription form in the same way, whatever the address, and handles it later. Neither
// the response nor its timing reveals who is subscribed.

/** Confirmation emails to an address that never confirmed. */
const CONFIRMATIONS_MAX = 3;
/** A subscriber who subscribes again gets at most one email within this time. */
const REMINDED_AFTER_MS = 24 * HOUR_MS;
/** A request that can't be read is forgotten after this. */
const KEPT_MS = 24 * HOUR_MS;

interface DecideDeps {
  readonly database: Database;
  readonly seal: AddressSeal;
  readonly newId: () => string;
  readonly now: EpochMs;
}

/** Handles recorded requests: a new subscriber gets a link to confirm, a known one gets a reminder. */
export async function decideRequests(deps: DecideDeps): Promise<number> {
  const { database, seal, now } = deps;
  const waiting = await database.all('SELECT id FROM subscriber_request LIMIT 1');
  if (waiting.length === 0) return 0;
  return database.transaction(async (tx) => {
    const rows = await tx.all('SELECT * FROM subscriber_request ORDER BY at DESC, id LIMIT 100');
    for (const row of rows) {
      const id = String(row['id']);
      const address = seal.open(String(row['address']), id);
      // Encrypted with another key, which may be restored.
      if (address === null && Number(row['at']) > now - KEPT_MS) continue;
      await tx.run('DELETE FROM subscriber_request WHERE id = ?', [id]);
      if (address !== null && address !== '') await decide(tx, deps, row, address);
    }
    return rows.length;
  });
}

async function decide(tx: Writer, { seal, newId, now }: DecideDeps, asked: Row, address: string): Promise<void> {
  const page = String(asked['page']) as PageKey;
  const [components, gate, locale] = [String(asked['components']), String(asked['gate']), String(asked['locale'])];
  const choice = { components: JSON.parse(components) as string[], gate, locale };
  await addSubscriber(tx, seal, { id: newId(), page, address, state: 'pending', ...choice, now });
  const [row] = await tx.all(
    'SELECT id, state, asked_at, asked_count FROM subscriber WHERE page = ? AND address_hash = ?',
    [page, seal.hash(page, address)],
  );
  const [id, isPending, count] = [String(row?.['id']), row?.['state'] === 'pending', Number(row?.['asked_count'])];
  const isReminded = count > 0 && Number(row?.['asked_at']) > now - REMINDED_AFTER_MS;
  if (isPending ? count >= CONFIRMATIONS_MAX : isReminded) return;
  // Until the subscription is confirmed, the last choice counts; afterwards only its owner can change it.
  if (isPending)
    await tx.run('UPDATE subscriber SET components = ?, gate = ?, locale = ? WHERE id = ?', [
      ...[components, gate, locale, id],
    ]);
  await tx.run('UPDATE subscriber SET asked_at = ?, asked_count = asked_count + 1 WHERE id = ?', [now, id]);
  await queueLink(tx, id, isPending ? 'confirm' : 'known', String(asked['id']), now);
}

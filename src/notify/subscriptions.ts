/**
 * The addresses by which visitors subscribe, below `subscribe/` of a page. GET changes nothing: programs that open every
 * link of a mail confirm nothing and end nothing.
 */

import type { GateRequest, GateResponse } from '../access/access.ts';
import type { Attempts } from '../access/attempts/attempts.ts';
import { newToken, type RandomBytes, type Revealing } from '../access/digest.ts';
import { GATE_HEADERS } from '../access/login/document-answer.ts';
import { safeBase } from '../access/login/return-to.ts';
import { isSameOrigin, isSameOriginOrOpaque } from '../access/same-origin.ts';
import { mailboxOf, parseEmailAddress } from '../mail/email-address.ts';
import type { Database } from '../store/database.ts';
import type { SubscribeInit } from '../views/subscribe/subscribe.ts';
import type { AddressSeal } from './address-seal.ts';
import { type AnswerSubscribe, createSubscribeDocuments, type RenderSubscribe } from './documents.ts';
import { linkToken, subscriberOf } from './links.ts';
import { componentsOf } from './record.ts';
import { recordRequest } from './requests.ts';
import {
  changeSubscriber,
  confirmSubscriber,
  eraseSubscriber,
  gateKeyOf,
  mayReceive,
  type SubscribablePage,
  type Subscriber,
  subscriberById,
} from './subscribers.ts';

interface SubscriptionsOptions {
  readonly database: Database;
  readonly key: Revealing;
  readonly seal: AddressSeal;
  readonly random: RandomBytes;
  readonly attempts: Attempts;
  /** A page that takes subscriptions; null: there is none, or it takes none. */
  readonly pageOf: (slug: string) => SubscribablePage | null;
  /** Of pages that are not there any more. */
  readonly locale: () => string;
  readonly render: RenderSubscribe;
  /** Something came in that is to be decided on soon, but not before whoever asked has the answer. */
  readonly onRequest: () => void;
  /** Something was erased. */
  readonly onErased: () => void;
}

export interface Subscriptions {
  /**
   * Answers below `subscribe/` of a page. Null: nothing is there for whoever asks, as on any page that is not there.
   *
   * @param isSeen  whether the visitor may see the page
   */
  readonly handle: (request: GateRequest, isSeen: boolean) => Promise<GateResponse | null>;
}

interface Call {
  readonly options: SubscriptionsOptions;
  readonly request: GateRequest;
  readonly known: SubscribablePage | null;
  /** Null: the page is not for whoever asks. */
  readonly seen: SubscribablePage | null;
  readonly show: (
    answer: Partial<SubscribeInit> & Pick<SubscribeInit, 'step'>,
    status?: number,
  ) => Promise<GateResponse>;
  readonly documents: AnswerSubscribe;
}

type Act = (call: Call) => Promise<GateResponse | null>;

const ROUTES: Readonly<Record<string, { readonly get: Act | null; readonly post: Act | null }>> = {
  subscribe: { get: showForm, post: subscribe },
  'subscribe/sent': { get: async (call) => (call.seen === null ? null : call.show({ step: 'sent' })), post: null },
  'subscribe/confirm': { get: showConfirm, post: confirm },
  'subscribe/manage': { get: showManage, post: manage },
  'subscribe/leave': { get: showLeave, post: leave },
};

export function createSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const documents = createSubscribeDocuments(options.render);
  return {
    handle: async (request, isSeen) => {
      const name = request.path.replace(/\/$/, '');
      const route = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined;
      const act = request.method === 'POST' ? route?.post : route?.get;
      const known = options.pageOf(request.slug);
      const page = known?.page ?? null;
      const common: SubscribeInit = {
        step: 'ask',
        fault: null,
        minutes: 0,
        locale: page?.locale ?? options.locale(),
        title: page?.title ?? null,
        base: safeBase(request.base),
        token: '',
        components: [],
        state: 'active',
        isSaved: false,
      };
      const call: Call = {
        options,
        request,
        known,
        seen: isSeen ? known : null,
        documents,
        show: (answer, status = 200) => documents({ ...common, ...answer, status }),
      };
      return (await act?.(call)) ?? null;
    },
  };
}

/** The form, with the components of the page to choose from. */
async function showForm(call: Call): Promise<GateResponse | null> {
  return call.seen === null ? null : askAgain(call, {}, 200);
}

async function askAgain(call: Call, over: Partial<SubscribeInit>, status: number): Promise<GateResponse> {
  const { options, request, show } = call;
  const components = await componentsOf(options.database, request.slug);
  return show({ step: 'ask', components: components.map((one) => ({ ...one, isChosen: false })), ...over }, status);
}

/** Writes down what is asked for and answers; for whom a mail is sent shows neither in the answer nor in its time. */
async function subscribe(call: Call): Promise<GateResponse | null> {
  const { options, request, seen } = call;
  if (seen === null) return null;
  if (!isSameOrigin(request)) return askAgain(call, { fault: 'refused' }, 403);
  const typed = request.form.get('email') ?? '';
  if (typed.trim() === '') return askAgain(call, { fault: 'invalid' }, 400);
  const { slug, clientAddress, now } = request;
  const admission = await options.attempts.admit({ kind: 'subscribe', slug, clientAddress, now });
  if (!admission.isAdmitted) {
    const minutes = Math.ceil(admission.retryAfterMs / 60_000);
    return askAgain(call, { fault: 'limited', minutes }, 429);
  }
  const email = parseEmailAddress(typed);
  const gate = gateKeyOf(seen);
  const isAllowed = email !== null && mayReceive(seen, email.address, gate);
  const countMail = await options.attempts.mailCounter(email === null ? typed : mailboxOf(email), 'subscription');
  const components = await chosenComponents(call);
  await options.database.transaction(async (tx) => {
    const isCounted = await countMail(tx, now);
    const address = isAllowed && isCounted ? email.address : null;
    await recordRequest(tx, options.seal, { id: newToken(options.random), slug, address, components, gate }, now);
  });
  options.onRequest();
  return {
    status: 303,
    headers: {
      ...GATE_HEADERS,
      location: `${safeBase(request.base)}subscribe/sent/`,
      'referrer-policy': 'same-origin',
    },
    body: '',
  };
}

/** What was ticked of what the page shows. All of it is the same as nothing: what is added later counts too. */
async function chosenComponents({ options, request }: Call): Promise<readonly string[]> {
  const components = await componentsOf(options.database, request.slug);
  const ticked = new Set(request.form.getAll('component'));
  const chosen = components.map(({ id }) => id).filter((id) => ticked.has(id));
  return chosen.length === components.length ? [] : chosen;
}

/** Looks nothing up: a scanner that comes by changes and learns nothing. */
async function showConfirm(call: Call): Promise<GateResponse | null> {
  return presented(call, 'confirm') === null || call.known === null
    ? expired(call)
    : call.show({ step: 'confirm', token: tokenOf(call) });
}

async function confirm(call: Call): Promise<GateResponse | null> {
  const { options, request, known } = call;
  const id = presented(call, 'confirm');
  if (id === null || known === null || !isSameOriginOrOpaque(request)) return expired(call);
  const found = await options.database.transaction(async (tx) => {
    await confirmSubscriber(tx, id, request.now);
    return subscriberById(tx, id);
  });
  if (found === null || found.slug !== request.slug) return expired(call);
  return call.show({ step: 'confirmed', token: linkToken(options.key, 'manage', id) });
}

async function showManage(call: Call): Promise<GateResponse | null> {
  const found = await owned(call);
  return found === null ? expired(call) : managed(call, found, false);
}

async function managed(call: Call, found: Subscriber, isSaved: boolean): Promise<GateResponse | null> {
  const { options, request, known, seen } = call;
  const address = options.seal.open(found.address, found.id) ?? '';
  const isAllowed = mayReceive(known, address, found.gate);
  // Names of components are for whoever may see the page.
  if (!isAllowed && seen === null) return null;
  const components = isAllowed ? await componentsOf(options.database, request.slug) : [];
  return call.show({
    step: 'manage',
    token: tokenOf(call),
    state: isAllowed ? (found.state === 'paused' ? 'paused' : 'active') : 'stopped',
    components: components.map((one) => ({ ...one, isChosen: found.components.includes(one.id) })),
    isSaved,
  });
}

async function manage(call: Call): Promise<GateResponse | null> {
  const { options, request, seen } = call;
  const found = await owned(call);
  if (found === null || !isSameOriginOrOpaque(request)) return expired(call);
  const action = request.form.get('action');
  const changed: Subscriber = {
    ...found,
    ...(action === 'save' ? { components: await chosenComponents(call) } : {}),
    ...(action === 'pause' ? { state: 'paused' } : {}),
    // Whoever sees the page by now has passed the gate that it has now.
    ...(action === 'resume' ? { state: 'active', gate: seen === null ? found.gate : gateKeyOf(seen) } : {}),
  };
  await options.database.transaction((tx) => changeSubscriber(tx, found.id, changed));
  return managed(call, changed, true);
}

async function showLeave(call: Call): Promise<GateResponse | null> {
  return presented(call, 'manage') === null ? expired(call) : call.show({ step: 'leave', token: tokenOf(call) });
}

/** Also what mail programs send by themselves (RFC 8058): no cookie, no origin; the token says it all. */
async function leave(call: Call): Promise<GateResponse | null> {
  const { options } = call;
  const id = presented(call, 'manage');
  if (id === null) return expired(call);
  if (await options.database.transaction((tx) => eraseSubscriber(tx, id))) options.onErased();
  return call.show({ step: 'left' });
}

/** A subscription that is confirmed, by the token of one of its mails. */
async function owned(call: Call): Promise<Subscriber | null> {
  const id = presented(call, 'manage');
  if (id === null || call.known === null) return null;
  const found = await subscriberById(call.options.database, id);
  return found !== null && found.slug === call.request.slug && found.state !== 'pending' ? found : null;
}

function tokenOf({ request }: Call): string {
  return request.form.get('token') ?? request.query.get('token') ?? '';
}

function presented(call: Call, purpose: 'confirm' | 'manage'): string | null {
  return subscriberOf(call.options.key, purpose, tokenOf(call));
}

/** Of a page that is not for whoever asks, nothing at all. */
async function expired(call: Call): Promise<GateResponse | null> {
  return call.seen === null ? null : call.show({ step: 'expired' }, 404);
}

/** The type of an operation of the API, and functions that all operations share. */

import type { z } from 'zod';
import type { RandomBytes } from '../access/digest.ts';
import type { IncidentTemplate } from '../config/schema.ts';
import type { AddressSeal } from '../notify/subscribers.ts';
import type { ResolvedPage } from '../publish/definitions/definitions.ts';
import type { Database } from '../store/database.ts';
import type { ApiScope } from '../store/written/tokens.ts';
import { faultAt, Refusal } from './requests.ts';
import { type Author, type Done, type Write, writeOnce } from './writer.ts';
import type { WritingPage } from './writing-page.ts';

export interface Call {
  readonly author: Author;
  /** Values of the parameters in the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** From `If-Match`; null: not sent. */
  readonly version: number | null;
  readonly database: Database;
  /** A few random letters and digits. */
  readonly newSuffix: () => string;
  /** The page’s templates for frequent incidents. */
  readonly templates: () => readonly IncidentTemplate[];
  /** Reads the page as it is now. */
  readonly load: () => Promise<WritingPage>;
  /** Every page that the token may read. */
  readonly pages: readonly ResolvedPage[];
  /** Publishes what was written. Resolves when that is done or takes too long. */
  readonly publish: () => Promise<void>;
  readonly subscribers: SubscriberParts;
}

/** For encrypting the addresses of subscribers. */
interface SubscriberParts {
  readonly seal: AddressSeal;
  readonly random: RandomBytes;
  /** Version of the page’s password; empty: it has none. */
  readonly gateOf: (slug: string) => string;
}

export interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly methods: readonly ('GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE')[];
  /** Below `/-/v1/`. */
  readonly path: string;
  readonly scope: ApiScope;
  readonly body: z.ZodType | null;
  readonly status: 200 | 201 | 204;
  /** Null: the answer has no body. */
  readonly answer: z.ZodType | null;
  /** Supported query parameters. */
  readonly query?: readonly ('q' | 'limit' | 'per_page' | 'page' | 'type' | 'state')[];
  /** A sentence about differences to Statuspage; absent: there are none. */
  readonly differs?: string;
  /** @throws Refusal */
  readonly run: (call: Call) => Promise<unknown>;
}

/** Defines an operation that only reads. */
export function read(
  init: Pick<Operation, 'id' | 'summary' | 'path' | 'answer' | 'run'> & Partial<Operation>,
): Operation {
  return { methods: ['GET'], scope: 'read', body: null, status: 200, ...init };
}

/** Makes the function that defines operations that write, with what most of them have in common. */
export function writer(scope: ApiScope) {
  return (init: Pick<Operation, 'id' | 'summary' | 'methods' | 'path' | 'answer' | 'run'> & Partial<Operation>) =>
    ({ scope, body: null, status: 200, ...init }) satisfies Operation;
}

/** The limit of Statuspage. */
const LISTED_MAX = 100;

/** Returns the page of a list that the query asks for. @throws Refusal 422 */
export function listPart<Item>(items: readonly Item[], query: URLSearchParams, first: 0 | 1 = 1): readonly Item[] {
  const size = Math.min(LISTED_MAX, numberIn(query, 'per_page', 1) ?? numberIn(query, 'limit', 1) ?? LISTED_MAX);
  const nth = Math.max(first, numberIn(query, 'page', 0) ?? first) - first;
  return items.slice(nth * size, (nth + 1) * size);
}

function numberIn(query: URLSearchParams, name: string, min: number): number | null {
  const text = query.get(name);
  if (text === null || text === '') return null;
  if (!/^\d{1,7}$/.test(text) || Number(text) < min) throw faultAt(name, `expected a whole number from ${min}`);
  return Number(text);
}

/** Writes once, then publishes. */
export async function writeAndPublish(call: Call, write: Write): Promise<Done> {
  const result = await writeOnce(call.database, call.author, write);
  if (!result.isReplay) await call.publish();
  return result;
}

/** What was looked up. @throws Refusal 404 if there is nothing */
export function required<T>(found: T | null | undefined, message = 'Not found.'): T {
  if (found == null) throw new Refusal(404, message);
  return found;
}

/** The same for what may have been deleted between two reads. @throws Refusal 404 */
export function stillThere<T>(found: T | undefined): T {
  return required(found, 'It has been deleted in the meantime.');
}

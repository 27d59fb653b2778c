/** The type of an operation of the API, and functions that all operations share. */

import { z } from 'zod';
import type { RandomBytes } from '../access/digest.ts';
import type { IncidentTemplate } from '../config/schema.ts';
import type { AddressSeal } from '../notify/subscribers.ts';
import type { ResolvedPage } from '../publish/definitions/definitions.ts';
import type { Database } from '../store/database.ts';
import type { ApiScope } from '../store/written.ts';
import { faultAt, Refusal } from './requests.ts';
import { type Author, type Write, type WritingPage, writeOnce } from './writing-page.ts';

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
  /** For encrypting the addresses of subscribers. */
  readonly subscribers: {
    readonly seal: AddressSeal;
    readonly random: RandomBytes;
    /** Version of the page’s password; empty: it has none. */
    readonly gateOf: (slug: string) => string;
  };
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

interface OperationInit<Subject> extends Partial<Omit<Operation, 'run'>> {
  readonly summary: string;
  /** @param subject what was read for the call, before anything is written */
  readonly run: (call: Call, subject: Subject) => unknown;
}

/**
 * Makes the functions that define the operations on one kind of things, by their method.
 *
 * @param scope of those that write; any token of the page may read
 * @param whole the answer; null in an operation: none
 * @param subjectOf what each operation begins with
 */
export function resource<Subject>(
  scope: ApiScope,
  whole: z.ZodType,
  subjectOf: (call: Call) => Subject | Promise<Subject>,
) {
  const define =
    (methods: Operation['methods'], common: Pick<Operation, 'scope'> & Partial<Operation>, status: 200 | 201 = 200) =>
    (id: string, path: string, init: OperationInit<Subject>): Operation => ({
      ...{ id, path, methods, answer: whole, body: null, status: init.answer === null ? 204 : status },
      ...common,
      ...init,
      run: async (call) => init.run(call, await subjectOf(call)),
    });
  return {
    list: define(['GET'], { scope: 'read', answer: z.array(whole), query: ['page', 'per_page'] }),
    get: define(['GET'], { scope: 'read' }),
    create: define(['POST'], { scope }, 201),
    change: define(['PATCH', 'PUT'], { scope }),
    put: define(['PUT'], { scope }),
    remove: define(['DELETE'], { scope }),
  };
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

/** Writes once, then publishes. Returns the id of what was written. */
export async function writeAndPublish(call: Call, write: Write): Promise<string> {
  const { id, isReplay } = await writeOnce(call.database, call.author, write);
  if (!isReplay) await call.publish();
  return id;
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

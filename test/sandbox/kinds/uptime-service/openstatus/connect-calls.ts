/** What every list and every look-up of the real uptime service has in common. */

import type { EpochMs } from '../../../../../src/model/time.ts';
import type { PagingShift } from '../../../exchange.ts';
import { json, type Reply } from '../../../exchange.ts';
import type { World } from '../../../world.ts';
import { callError, domainError, rangeError } from './connect-errors.ts';

export type Message = Record<string, unknown>;

export interface CallContext {
  readonly world: World;
  readonly now: EpochMs;
  readonly pagePassword: string;
  readonly pagingShift: PagingShift | null;
}

export type Call = (message: Readonly<Message>, context: CallContext) => Reply;

const LIST_MAX = 100;
const LIST_DEFAULT = 50;

/** Cuts `limit` and `offset` out of a list and hands on the page and the size of the whole. */
export function paged<T>(
  message: Readonly<Message>,
  items: readonly T[],
  answer: (page: readonly T[], total: Message) => Message,
): Reply {
  const { limit = LIST_DEFAULT, offset = 0 } = message;
  if (typeof limit !== 'number' || limit < 1 || limit > LIST_MAX) return rangeError('limit', 1, 1, LIST_MAX);
  if (typeof offset !== 'number' || offset < 0) {
    return callError(400, 'invalid_argument', 'offset: must be greater than or equal to 0 [int32.gte]');
  }
  const total = items.length === 0 ? {} : { totalSize: items.length };
  return json(200, answer(items.slice(offset, offset + limit), total));
}

/** A list as protobuf has it: absent when empty. */
export function list(name: string, items: readonly unknown[]): Message {
  return items.length === 0 ? {} : { [name]: items };
}

/** Finds by the numeric id of the message; the real service stumbles over an id that is no number. */
export function found<T extends { readonly id: number }>(
  message: Readonly<Message>,
  items: readonly T[],
  entity: { readonly name: string; readonly reason: string; readonly header: `error-${string}` },
): T | Reply {
  const id = String(message['id'] ?? '');
  if (!/^\d+$/.test(id)) return callError(500, 'internal', 'Internal error');
  const item = items.find((one) => one.id === Number(id));
  return item ?? domainError(404, `${entity.name} not found`, { [entity.header]: id, 'error-reason': entity.reason });
}

export function isReply(value: object): value is Reply {
  return 'body' in value && 'headers' in value;
}

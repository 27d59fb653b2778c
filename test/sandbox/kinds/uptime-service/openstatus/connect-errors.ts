/** Errors as the real uptime service words them: Connect for calls, its own envelope for REST, `{error}` for its router. */

import { json, type Reply } from '../../../exchange.ts';

const ERROR_DOMAIN = 'openstatus.dev';

/** A call that was understood and refused. */
export function callError(status: number, code: string, message: string): Reply {
  return json(status, { code, message });
}

/** An entity that is not there or not for this caller; its facts travel in headers. */
export function domainError(
  status: 403 | 404,
  message: string,
  facts: Readonly<Record<`error-${string}`, string>>,
): Reply {
  const code = status === 403 ? 'permission_denied' : 'not_found';
  return json(status, { code, message }, { 'error-domain': ERROR_DOMAIN, ...facts });
}

export function routerError(status: 404 | 405, message: string, requestId: string): Reply {
  return json(status, { error: message }, { 'x-request-id': requestId });
}

export function restError(status: number, code: string, message: string, requestId: string): Reply {
  const docs = `https://www.openstatus.dev/docs/api-references/errors/code/${code}`;
  return json(status, { code, message, docs, requestId }, { 'x-request-id': requestId });
}

/** A number outside its range, with the violation spelled out twice, as JSON and as protobuf. */
export function rangeError(field: string, fieldNumber: number, min: number, max: number): Reply {
  const ruleId = 'int32.gte_lte';
  const message = `must be greater than or equal to ${min} and less than or equal to ${max}`;
  const fieldPath = [{ fieldNumber, fieldName: field, fieldType: 'TYPE_INT32' }];
  const rulePath = [
    { fieldNumber: 3, fieldName: 'int32', fieldType: 'TYPE_MESSAGE' },
    { fieldNumber: 5, fieldName: 'gte', fieldType: 'TYPE_INT32' },
  ];
  const violation = {
    ruleId,
    message,
    forKey: false,
    field: { elements: fieldPath },
    rule: { elements: rulePath },
  };
  const value = nested(1, [
    ...text(2, ruleId),
    ...text(3, message),
    ...varint(4, 0),
    ...nested(5, fieldPath.flatMap(pathElement)),
    ...nested(6, rulePath.flatMap(pathElement)),
  ]);
  const debug = { violations: [violation] };
  const detail = { type: 'buf.validate.Violations', debug, value: base64(value) };
  const details = [detail];
  return json(400, { code: 'invalid_argument', message: `${field}: ${message} [${ruleId}]`, details });
}

interface PathElement {
  readonly fieldNumber: number;
  readonly fieldName: string;
  readonly fieldType: string;
}

/** Numbers of protobuf's own field types. */
const FIELD_TYPES: ReadonlyMap<string, number> = new Map([
  ['TYPE_INT32', 5],
  ['TYPE_MESSAGE', 11],
]);

function pathElement({ fieldNumber, fieldName, fieldType }: PathElement): number[] {
  const type = FIELD_TYPES.get(fieldType) ?? 0;
  return nested(1, [...varint(1, fieldNumber), ...text(2, fieldName), ...varint(3, type)]);
}

/** All numbers and lengths here are below 128, so each takes one byte. */
function varint(field: number, value: number): number[] {
  return [field << 3, value];
}

function text(field: number, value: string): number[] {
  return nested(field, [...Buffer.from(value)]);
}

function nested(field: number, bytes: readonly number[]): number[] {
  return [(field << 3) | 2, bytes.length, ...bytes];
}

function base64(bytes: readonly number[]): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}

/** Checks of request bodies, and the error body of the services that check: a message and the faults by field. */

import { json, type Reply } from './exchange.ts';

/** Null: nothing is wrong with the value. Undefined is what an absent field has. */
type Rule = (value: unknown) => string | null;

/** Field to its faults; empty when there are none. */
type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** Applies each rule to the field of its name; other fields are not looked at. */
export function check(body: Readonly<Record<string, unknown>>, rules: Readonly<Record<string, Rule>>): FieldErrors {
  return Object.fromEntries(
    Object.entries(rules).flatMap(([field, rule]) => {
      const fault = rule(body[field]);
      return fault === null ? [] : [[field, [`The ${field} field ${fault}.`]]];
    }),
  );
}

/** 422 when there are faults; null when there are none. */
export function refused(errors: FieldErrors): Reply | null {
  const [first] = Object.values(errors).flat();
  return first === undefined ? null : json(422, { message: first, errors });
}

export const required =
  (rule: Rule): Rule =>
  (value) =>
    value === undefined || value === null || value === '' ? 'is required' : rule(value);

export const optional =
  (rule: Rule): Rule =>
  (value) =>
    value === undefined ? null : rule(value);

export const nullable =
  (rule: Rule): Rule =>
  (value) =>
    value === null ? null : rule(value);

export const text =
  (max = Number.POSITIVE_INFINITY): Rule =>
  (value) => {
    if (typeof value !== 'string') return 'must be a string';
    return value.length > max ? `may not be longer than ${max} characters` : null;
  };

export const oneOf =
  (...words: readonly string[]): Rule =>
  (value) =>
    typeof value === 'string' && words.includes(value) ? null : `must be one of ${words.join(', ')}`;

export const integer: Rule = (value) => (Number.isSafeInteger(value) ? null : 'must be an integer');
export const number: Rule = (value) => (Number.isFinite(value) ? null : 'must be a number');
export const boolean: Rule = (value) => (typeof value === 'boolean' ? null : 'must be true or false');
export const object: Rule = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? null : 'must be an object';
export const email: Rule = (value) =>
  typeof value === 'string' && /^[^\s@]+@[^\s@]+$/.test(value) ? null : 'must be an e-mail address';
/** RFC 3339: a date, a time and a zone. */
export const dateTime: Rule = (value) =>
  typeof value === 'string' &&
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(value) &&
  !Number.isNaN(Date.parse(value))
    ? null
    : 'must be a date and time with a zone';
/** Unacceptable whatever it is. */
export const absent: Rule = (value) => (value === undefined ? null : 'cannot be changed');

/** Converts checks of other programs to ours. Unsupported settings are reported, and secrets become variables. */

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../model/time.ts';
import { check, faultText } from '../schema/issue-words.ts';
import { CheckSchema, checkPeriodMs, PERIODS } from '../sync/connectors/check.ts';
import { change, createIds, drop, type ImportNote } from './site.ts';

/** A check of another program. */
export interface CheckDraft {
  readonly everyMs: number;
  /** Fields of our check, except its name and period. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Settings without an equivalent here, by their original names. */
  readonly lost: readonly string[];
}

export type CheckList = ReturnType<typeof createCheckList>;

const UPSTREAM_ID = 'checks';
const SECRET_HEADER = /auth|cookie|key|passw|secret|signature|token/i;
/** A `${…}` that is not just a variable name, but would still be replaced in the configuration. */
const FOREIGN_REFERENCE = /\$\{(?![A-Za-z_]\w*\})/;

export function createCheckList(notes: ImportNote[]) {
  const ids = createIds('check');
  const checks: object[] = [];
  return {
    /** The `upstreams` entry with all checks; null: there are none. */
    upstream: () => (checks.length === 0 ? null : { id: UPSTREAM_ID, kind: 'checks', checks }),
    /** Adds a check and returns the id of its monitor; null: not possible, and a note says why. */
    add: (place: string, name: string, draft: CheckDraft | string) => {
      const refuse = (reason: string): null => {
        drop(notes, place, `it has no check: ${reason}`);
        return null;
      };
      if (typeof draft === 'string') return refuse(draft);
      const { everyMs, lost } = draft;
      const periodicity = PERIODS.findLast((one) => checkPeriodMs({ periodicity: one }) <= everyMs) ?? PERIODS[0];
      const plain = Object.fromEntries(
        Object.entries(draft.fields).filter(
          ([, value]) => value != null && !(Array.isArray(value) && value.length === 0),
        ),
      );
      // An address that begins with a variable can't be checked, so it is accepted.
      const url = String(plain['url']).startsWith('${') ? 'https://example.com' : plain['url'];
      const tried = check(CheckSchema, { name, periodicity, ...plain, ...(url === undefined ? {} : { url }) });
      if (!tried.success) return refuse(faultText(tried.faults[0]));
      if (FOREIGN_REFERENCE.test(JSON.stringify(plain)))
        return refuse('it contains ${, which pharos.yaml would replace');
      const id = ids(name, place);
      const { fields, variables } = withoutSecrets(plain, `CHECK_${id.replaceAll('-', '_').toUpperCase()}`);
      checks.push({ id, name, periodicity, ...fields });
      if (lost.length > 0) drop(notes, place, `a check can’t say ${lost.join(', ')}`);
      if (checkPeriodMs({ periodicity }) !== everyMs)
        change(notes, place, `it was checked every ${written(everyMs)}, and is every ${periodicity}`);
      if (variables.length > 0)
        change(notes, place, `secrets aren’t copied; set ${variables.join(', ')} in the environment`);
      return `${UPSTREAM_ID}/${id}`;
    },
  };
}

/** Replaces clear-text secrets with environment variables. */
function withoutSecrets(fields: Readonly<Record<string, unknown>>, prefix: string) {
  const variables: string[] = [];
  const hide = (value: string, name: string): string => {
    if (value.includes('${')) return value;
    const variable = `${prefix}_${name.toUpperCase().replaceAll(/\W/g, '_')}`;
    variables.push(variable);
    return `\${${variable}}`;
  };
  const { headers, auth } = fields as {
    readonly headers?: readonly { readonly key: string; readonly value: string }[];
    readonly auth?: Readonly<Record<string, string>>;
  };
  const hidden = {
    ...fields,
    headers: headers?.map(({ key, value }) => ({ key, value: SECRET_HEADER.test(key) ? hide(value, key) : value })),
    auth:
      auth &&
      Object.fromEntries(Object.entries(auth).map(([key, value]) => [key, key === 'user' ? value : hide(value, key)])),
  };
  return { fields: hidden, variables };
}

function written(ms: number): string {
  const [unit, letter] = [[DAY_MS, 'd'] as const, [HOUR_MS, 'h'] as const, [MINUTE_MS, 'm'] as const].find(
    ([one]) => ms >= one && ms % one === 0,
  ) ?? [1_000, 's'];
  return `${ms / unit}${letter}`;
}

/** The maximum per check. */
const ASSERTIONS_MAX = 10;

/**
 * Assertions, all of which must hold, that accept exactly these ranges of status codes. Null: not possible. Empty: 2xx,
 * the default.
 */
export function statusAssertions(ranges: readonly (readonly [from: number, to: number])[]) {
  const wanted = new Set(
    ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, index) => from + index)),
  );
  const [min, max] = [Math.min(...wanted), Math.max(...wanted)];
  if (wanted.size === 0 || min < 100 || max > 599) return null;
  if (min === 200 && max === 299 && wanted.size === 100) return [];
  if (wanted.size === 1) return [{ comparator: 'eq', target: min }];
  const gaps = Array.from({ length: max - min }, (_, index) => min + index).filter((status) => !wanted.has(status));
  const assertions = [
    { comparator: 'gte', target: min },
    { comparator: 'lte', target: max },
    ...gaps.map((target) => ({ comparator: 'neq', target })),
  ];
  return assertions.length > ASSERTIONS_MAX ? null : assertions;
}

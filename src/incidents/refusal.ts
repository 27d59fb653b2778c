/** Why something is not written, with the place of each fault. */

import type { z } from 'zod';
import { checkOwn, type Fault, faultText } from '../schema/issue-words.ts';

/** Answered with its status; nothing was written. */
export class Refusal extends Error {
  readonly status: number;
  readonly issues: readonly Fault[];

  constructor(status: number, message: string, issues: readonly Fault[] = []) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.issues = issues;
  }
}

/** 422 over some places. */
export function unprocessable(issues: readonly Fault[]): Refusal {
  return new Refusal(422, issues.map(faultText).join('; '), issues);
}

/** 422 over one place. */
export function faultAt(path: string, message: string): Refusal {
  return unprocessable([{ path, message }]);
}

/** @throws Refusal 422 with every path that does not meet the schema */
export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = checkOwn(schema, value);
  if (!parsed.success) throw unprocessable(parsed.faults);
  return parsed.data;
}

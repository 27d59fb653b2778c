/** Why something is not written, with the place of each fault. */

import type { z } from 'zod';

export interface Issue {
  /** `incident.components.abc`; empty: the body itself. */
  readonly path: string;
  /** What was expected, and what to do. */
  readonly message: string;
}

/** Answered with its status; nothing was written. */
export class Refusal extends Error {
  readonly status: number;
  readonly issues: readonly Issue[];

  constructor(status: number, message: string, issues: readonly Issue[] = []) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.issues = issues;
  }
}

/** 422 over some places. */
export function unprocessable(issues: readonly Issue[]): Refusal {
  return new Refusal(
    422,
    issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '),
    issues,
  );
}

/** 422 over one place. */
export function faultAt(path: string, message: string): Refusal {
  return unprocessable([{ path, message }]);
}

/** What a schema found, by path. */
export function issuesOf({ issues }: z.ZodError): readonly Issue[] {
  return issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
}

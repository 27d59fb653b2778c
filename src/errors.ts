/**
 * The closed set of errors. Nothing else is thrown on purpose; names are permanent, so that they can be searched for.
 * `docs/troubleshooting.md` lists them and a test compares that list with this one.
 */

/** Whether the same request may succeed later. */
const RETRYABLE = {
  CONFIG_INVALID: false,
  UPSTREAM_UNREACHABLE: true,
  UPSTREAM_FAILED: true,
  UPSTREAM_REFUSED: false,
  UPSTREAM_LIMITED: true,
  UPSTREAM_SHAPE: false,
  STORE_UNAVAILABLE: true,
  STORE_CORRUPT: false,
  PUBLISH_FAILED: true,
  TARGET_UNREACHABLE: true,
  TARGET_REFUSED: false,
  TARGET_BUSY: true,
  NOT_FOUND: false,
};
export type ErrorCode = keyof typeof RETRYABLE;
export const ERROR_CODES = Object.keys(RETRYABLE) as readonly ErrorCode[];

interface StatusErrorInit {
  readonly code: ErrorCode;
  /** What happened, why, what to do. Safe to log: no secret, no query string, no body. */
  readonly message: string;
  readonly cause?: unknown;
  /** Small facts for the log and the pass report (upstream id, HTTP status, path inside a document). */
  readonly context?: Readonly<Record<string, string | number | boolean | null>>;
  /** Only with UPSTREAM_LIMITED: no request may leave before this instant (epoch ms). */
  readonly retryAt?: number;
  /** Only with CONFIG_INVALID: every fault, each with its path and what was expected. */
  readonly issues?: readonly ConfigIssue[];
}

/** One fault of a configuration: where, what was expected, and what to do. */
export interface ConfigIssue {
  /** Path in the document, such as `upstreams[0].baseUrl`; empty for the document itself. */
  readonly path: string;
  readonly message: string;
  /** The line of the file and a caret below the fault, where it has a place; secrets of the file are not in it. */
  readonly excerpt?: string;
}

export class StatusError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly context: Readonly<Record<string, string | number | boolean | null>>;
  readonly retryAt: number | null;
  readonly issues: readonly ConfigIssue[];

  constructor(init: StatusErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = init.code;
    this.code = init.code;
    this.retryable = RETRYABLE[init.code];
    this.context = Object.freeze({ ...init.context });
    this.retryAt = init.retryAt ?? null;
    this.issues = init.issues ?? [];
  }
}

/** True when `error` is one of ours, whichever code it carries; narrows it. */
export function isStatusError(error: unknown): error is StatusError {
  return error instanceof StatusError;
}

/** Whether the database can't be used. */
export function isStoreError(error: unknown): error is StatusError {
  return isStatusError(error) && error.code.startsWith('STORE_');
}

/** The message of anything thrown, for a log line. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const FILE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of its path is not a folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Why a file cannot be read, for a sentence that names it. */
export function fileReason(error: unknown): string {
  return FILE_REASONS[String((error as { readonly code?: unknown } | null)?.code)] ?? messageOf(error);
}

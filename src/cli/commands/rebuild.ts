import { request } from 'undici';
import type { RunReport } from '../../app/run/engine.ts';
import { messageOf, StatusError } from '../../errors.ts';
import { EXIT_DONE, EXIT_FAILED, UsageError } from '../terminal/exit.ts';
import { createProgress } from '../terminal/progress.ts';
import { runText } from '../terminal/report-text.ts';
import { print, requireConfig } from './common.ts';

export interface RebuildOptions {
  readonly config?: string;
  readonly page?: string;
  readonly url?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** The server answers before, with what it knows by then. */
const WAIT_MS = 10 * 60_000;

/** Asks the running server to pull and publish now, waits, and prints its report. */
export async function rebuild(options: RebuildOptions): Promise<number> {
  const config = requireConfig(options.config);
  const token = config.operators.token;
  if (token === undefined)
    throw new UsageError('The configuration has no operators.token, so the server takes no rebuild.');
  const base = options.url ?? `http://${config.server.host}:${config.server.port}`;
  const progress = createProgress(options.quiet ?? options.json ?? false);
  progress.doing(`waiting for ${base}`);
  const answer = await request(new URL('/-/rebuild?wait=1', base), {
    method: 'POST',
    headers: { authorization: `Bearer ${token.reveal()}`, 'content-type': 'application/json' },
    body: JSON.stringify(options.page === undefined ? {} : { page: options.page }),
    headersTimeout: WAIT_MS,
    bodyTimeout: WAIT_MS,
  }).catch((cause: unknown) => {
    progress.end();
    throw new StatusError({
      code: 'UPSTREAM_UNREACHABLE',
      message: `No server answers at ${base}: ${messageOf(cause)}. Is pharos start running? Name its address with --url.`,
      cause,
    });
  });
  const body = (await answer.body.json().catch(() => null)) as {
    report?: RunReport;
    message?: string;
  } | null;
  progress.end();
  if (answer.statusCode !== 200 || body?.report === undefined) {
    throw new StatusError({
      code: 'UPSTREAM_REFUSED',
      message: `The server at ${base} answered ${answer.statusCode}: ${body?.message ?? 'no reason given.'}`,
    });
  }
  print(options.json === true, body.report, runText(body.report));
  return body.report.hasFailed ? EXIT_FAILED : EXIT_DONE;
}

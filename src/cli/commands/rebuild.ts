import type { RunReport } from '../../app/run/engine.ts';
import { StatusError } from '../../errors.ts';
import { EXIT_DONE, EXIT_FAILED, UsageError } from '../terminal/exit.ts';
import { createProgress } from '../terminal/progress.ts';
import { runText } from '../terminal/report-text.ts';
import { print, requireConfig } from './common.ts';
import { askServer, serverBase } from './server-client.ts';

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
    throw new UsageError(
      'operators.token is not set, so the server does not accept rebuilds. Set it in the configuration and restart the server.',
    );
  const base = serverBase(config, options.url);
  const progress = createProgress(options.quiet ?? options.json ?? false);
  progress.doing(`waiting for ${base} to sync and publish`);
  const answer = await askServer(
    { config, base },
    {
      method: 'POST',
      path: 'rebuild?wait=1',
      body: options.page === undefined ? {} : { page: options.page },
      waitMs: WAIT_MS,
    },
  ).finally(() => progress.end());
  const body = answer.body as { report?: RunReport; message?: string } | null;
  if (answer.status !== 200 || body?.report === undefined) {
    throw new StatusError({
      code: 'UPSTREAM_REFUSED',
      message: `The server at ${base} answered ${answer.status}: ${body?.message ?? 'no reason given.'}`,
    });
  }
  print(options.json === true, body.report, runText(body.report));
  return body.report.hasFailed ? EXIT_FAILED : EXIT_DONE;
}

import type { RunReport } from '../../app/run/engine.ts';
import { StatusError } from '../../errors.ts';
import { type CommonOptions, loadConfig, print, requireConfig } from '../common.ts';
import { askServer, findServer } from '../server-client.ts';
import { EXIT_DONE, EXIT_FAILED, UsageError } from '../terminal/exit.ts';
import { createProgress } from '../terminal/progress.ts';
import { runText } from '../terminal/report-text.ts';

interface RebuildOptions extends CommonOptions {
  readonly page?: string;
  readonly url?: string;
}

/** The server always responds earlier than this. */
const WAIT_MS = 10 * 60_000;

/** Tells the running server to sync and publish now, waits, and prints its report. */
export async function rebuild(options: RebuildOptions): Promise<number> {
  const config = options.url === undefined ? requireConfig(options.config) : loadConfig(options.config);
  const server = findServer(config, options.url);
  if (server === null)
    throw new UsageError(
      config === null
        ? 'Set PHAROS_TOKEN to the operator token of that server.'
        : 'operators.token is not set, so the server does not accept rebuilds. Set it in the configuration and restart the server.',
    );
  const { base } = server;
  using progress = createProgress(options.quiet ?? options.json ?? false);
  progress.doing(`waiting for ${base} to sync and publish`);
  const answer = await askServer(server, {
    method: 'POST',
    path: 'rebuild?wait=1',
    body: options.page === undefined ? {} : { page: options.page },
    waitMs: WAIT_MS,
  }).finally(() => progress.end());
  const body = answer.body as { report?: RunReport; message?: string } | null;
  if (answer.status !== 200 || body?.report === undefined) {
    throw new StatusError({
      code: 'UPSTREAM_REFUSED',
      message: `The server at ${base} answered ${answer.status}: ${body?.message ?? 'no reason given.'}`,
    });
  }
  print(options, body.report, runText(body.report));
  return body.report.hasFailed ? EXIT_FAILED : EXIT_DONE;
}

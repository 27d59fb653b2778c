/**
 * The beginning of a process that answers visitors beside others, under the orders of the one that began it and for as long as
 * that lives. Signals mean that one: a terminal and a supervisor send them to all.
 */

import { compose } from '../app/compose.ts';
import { createLog } from '../app/log.ts';
import { createForwarding } from '../app/serving/forward.ts';
import { type Door, listen } from '../app/serving/listen.ts';
import type { WorkerHandlers, WorkerOrder } from '../app/serving/workers.ts';
import { createRpc } from '../app/workers/rpc.ts';
import { messageOf } from '../errors.ts';
import { loadConfig, requireConfig } from './commands/common.ts';
import { EXIT_DONE, EXIT_FAILED, ignoreClosedPipes } from './terminal/exit.ts';

ignoreClosedPipes();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit(EXIT_FAILED));

let serving: Awaited<ReturnType<typeof serve>> | null = null;
createRpc(
  { postMessage: (message) => void process.send?.(message), on: (event, listener) => process.on(event, listener) },
  {
    begin: async (order) => {
      serving = await serve(order);
    },
    metrics: async () => serving?.metrics() ?? [],
    reload: async () => serving?.reload(),
    drain: () => serving?.door.drain(),
    close: () => {
      void (serving?.close() ?? Promise.resolve()).finally(() => process.exit(EXIT_DONE));
    },
  } satisfies WorkerHandlers,
);

async function serve({ configFile, isQuiet, host, port, socketPath }: WorkerOrder) {
  const named = configFile ?? undefined;
  const config = requireConfig(named);
  const secrets = new Set(config.secrets);
  const log = createLog({ isQuiet, secrets });
  const pharos = await compose(config, { log, isPublishing: false, isLasting: true, printsMail: false });
  let isStopping = false;
  const forward = createForwarding(socketPath, () => isStopping);
  const door = await listen(pharos, { log, place: { host, port }, worker: { forward } });
  const stopping = (end: Door['drain']) => () => {
    isStopping = true;
    end();
  };
  return {
    door: { drain: stopping(door.drain) },
    metrics: pharos.metrics.added,
    reload: async () => {
      try {
        const next = loadConfig(named);
        if (next === null) return;
        for (const secret of next.secrets) secrets.add(secret);
        await pharos.reconfigure(next);
      } catch (error) {
        log.error(messageOf(error));
      }
    },
    close: async () => {
      isStopping = true;
      await door.close();
      await pharos.close();
    },
  };
}

import { now } from '../../app/clock.ts';
import { startSandbox } from '../../sandbox/sandbox.ts';
import { EXIT_DONE } from '../terminal/exit.ts';
import { untilStopped } from '../terminal/signals.ts';

export interface SandboxCommandOptions {
  readonly port: number;
}

/** Local upstreams until stopped; the configuration to paste on standard output. */
export async function sandbox(options: SandboxCommandOptions): Promise<number> {
  const upstreams = await startSandbox({ port: options.port, now, log: (line) => process.stderr.write(`${line}\n`) });
  const exports = Object.entries(upstreams.environment()).map(([name, value]) => `export ${name}='${value}'`);
  process.stdout.write(
    `# Upstreams on ${upstreams.url}. In another shell:\n${exports.join('\n')}\n\n# pharos.yaml\n${upstreams.configText()}`,
  );
  await untilStopped();
  await upstreams.stop();
  return EXIT_DONE;
}

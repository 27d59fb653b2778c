import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../helpers/in-process.ts';
import { OPENSTATUS_STEPS } from '../helpers/openstatus-steps.ts';
import { eventually, type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { type Replay, replayKey, startReplay } from '../helpers/replay.ts';
import { startWarm } from '../helpers/warm.ts';

const LEFT_OUT = 'its language is tr, which Pharos doesn’t support, so the page is in en';

/** By the recordings of test/fixtures/openstatus, up to the step in which `check` was run there too. */
describe('what is left out of a real openstatus', () => {
  const folder = temporaryFolder();
  const env = { OS_KEY: replayKey('read'), OPERATORS: 'token-of-operators-of-this-test' };
  let replay: Replay;

  beforeAll(async () => {
    const end = OPENSTATUS_STEPS.findIndex(({ name }) => name.includes('key-is-revoked'));
    const exchanges = OPENSTATUS_STEPS.slice(0, end).flatMap((step) => step.exchanges);
    replay = await startReplay({ exchanges, port: 0 });
    writeFileSync(
      join(folder.path, 'pharos.yaml'),
      [
        'site: { url: "http://127.0.0.1:4321", name: Example }',
        'operators: { token: "${OPERATORS}" }',
        'upstreams:',
        `  - { id: os, kind: uptime-service, preset: openstatus, rpcUrl: "${replay.rpcUrl}", apiKey: "\${OS_KEY}" }`,
      ].join('\n'),
    );
  });
  afterAll(async () => {
    await replay.stop();
    folder.remove();
  });

  it('is said by the very first check, before anything was ever stored', async () => {
    const { status, stdout } = await runHere(['check'], { cwd: folder.path, env });
    expect(stdout).toContain('7 status pages; 13 notification channels (1 discord, 1 email, 1 google_chat');
    expect(stdout.split('\n').filter((line) => line.startsWith('! '))).toEqual([
      `! page manual: ${LEFT_OUT}`,
      expect.stringMatching(/^! page staff: Only the upstream knows its password\. The page stays private/),
      expect.stringMatching(/^! page office: Unsupported access type\. The page stays private/),
    ]);
    expect(stdout).not.toMatch(/sesame|x-secret|example\.test\/hook/);
    expect(status).toBe(0);
    // Asked for what the configuration may name there; the recording has no answer, and nothing depends on it.
    expect(replay.unmatched).toEqual(['GET /v1/status_report']);
  });

  it('stands on the operators’ page', async () => {
    const pharos: RunningPharos = await startWarm(['start', '--port', '0'], { cwd: folder.path, env });
    try {
      const signedIn = await fetch(`${pharos.url}/-/ops/sign-in`, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ token: env.OPERATORS }),
      });
      const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
      const page = await eventually(
        async () => (await fetch(`${pharos.url}/-/ops`, { headers: { cookie } })).text(),
        (text) => text.includes('Page manual'),
      );
      expect(page).toContain(`Page manual: ${LEFT_OUT}`);
    } finally {
      await pharos.stop();
    }
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { toEpochMs } from '../../src/model/time.ts';
import { metricsText } from '../helpers/metrics.ts';
import { eventually, type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { startWarm } from '../helpers/warm.ts';
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts';

const TOKEN = 'a-token-of-thirty-two-characters-x';

interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** Families of a text in the format of Prometheus. */
function familiesOf(text: string): readonly Family[] {
  return [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \1 (\w+)\n((?:[^#\n].*\n)*)/gm)].map(
    ([, name = '', help = '', type = '', lines = '']) => ({
      name,
      type,
      help,
      labels: [...lines.matchAll(/[{,](\w+)="/g)].map(([, label = '']) => label),
    }),
  );
}

/** What `promtool check metrics` complains of, by its documented rules; it says nothing more of our text. */
function complaintsOf({ name, type, help, labels }: Family): readonly string[] {
  const rules: Readonly<Record<string, boolean>> = {
    'no help': help.trim() === '',
    'a counter without _total': type === 'counter' && !name.endsWith('_total'),
    '_total and no counter': type !== 'counter' && name.endsWith('_total'),
    'a suffix of histograms': type !== 'histogram' && /_(count|sum|bucket)$/.test(name),
    'a label of histograms': type !== 'histogram' && labels.some((label) => /^(le|quantile)$/.test(label)),
    'its type in its name': /_(gauge|counter|histogram|summary)(_|$)/.test(name),
    'capitals or colons': [name, ...labels].some((word) => /[A-Z:]/.test(word)),
    'no base unit': /_(milliseconds|minutes|hours|days|ms|us|ns|sec|kilobytes|kb|mb|percent)(_|$)/.test(name),
  };
  return Object.entries(rules).flatMap(([rule, isBroken]) => (isBroken ? [`${name}: ${rule}`] : []));
}

describe('/-/metrics', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  let pharos: RunningPharos;

  function writeConfig(openToAll: readonly string[]): void {
    const page = (slug: string, component: string) => ({
      slug,
      components: [{ monitor: 'edge/1', id: component, name: component }],
      ...(openToAll.includes(slug) ? {} : { password: '${STAFF_PASSWORD}' }),
    });
    const edge = { id: 'edge', kind: 'server-monitor', baseUrl: `${sandbox.url}/server-monitor`, auth: 'x-api-key' };
    writeFileSync(
      join(folder.path, 'pharos.yaml'),
      stringify({
        site: { url: 'http://127.0.0.1:4321' },
        schedule: '0 0 1 1 *',
        upstreams: [{ ...edge, apiKey: '${EDGE_KEY}' }],
        pages: [page('acme', 'api'), page('staff', 'vault'), { ...page('draft', 'plan'), published: false }],
        operators: { token: '${PHAROS_TOKEN}' },
      }),
    );
  }

  const text = (): Promise<string> => metricsText(pharos.url, TOKEN);
  const states = (metrics: string): string[] => metrics.match(/^pharos_component_state\{.*$/gm)?.toSorted() ?? [];

  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, now: () => toEpochMs(Date.now()), isCalm: true });
    writeConfig(['acme', 'draft']);
    pharos = await startWarm(['start', '--port', '0'], {
      cwd: folder.path,
      env: { ...sandbox.environment(), PHAROS_TOKEN: TOKEN, STAFF_PASSWORD: 'a pass phrase of one page' },
    });
    const isReady = async (): Promise<boolean> => (await fetch(`${pharos.url}/-/ready`)).ok;
    if (!(await eventually(isReady, (ready) => ready))) throw new Error(`not ready:\n${pharos.stderr()}`);
  });
  afterAll(async () => {
    await pharos?.stop();
    await sandbox?.stop();
    folder.remove();
  });

  it('has only names, types and labels that promtool accepts', async () => {
    const families = familiesOf(await text());
    expect(families.length).toBeGreaterThan(40);
    expect(families.filter(({ type }) => type === 'counter').length).toBeGreaterThan(8);
    expect(families.flatMap(complaintsOf)).toEqual([]);
  });

  it('has the state of each component of public pages, and follows their gates', async () => {
    const api = 'pharos_component_state{page="acme",component="api",state="operational"} 1';
    const vault = 'pharos_component_state{page="staff",component="vault",state="operational"} 1';
    const seen = await text();
    expect(states(seen)).toEqual([api]);
    expect(seen).not.toMatch(/staff|vault|draft|plan/);
    writeConfig(['acme', 'staff']);
    process.kill(pharos.pid, 'SIGHUP');
    expect(
      await eventually(
        async () => states(await text()),
        (all) => all.length === 2,
      ),
    ).toEqual([api, vault]);
    writeConfig(['staff']);
    process.kill(pharos.pid, 'SIGHUP');
    expect(
      await eventually(
        async () => states(await text()),
        (all) => all.length === 1,
      ),
    ).toEqual([vault]);
  });
});

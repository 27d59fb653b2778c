import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { CONNECTORS } from '../../src/sync/connectors/index.ts';
import { startTestSandbox, type TestSandbox } from '../helpers/sandbox.ts';
import { SANDBOXES } from '../sandbox/kinds/index.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

function parsed(...choice: Parameters<TestSandbox['configText']>): ReturnType<typeof parseConfig> {
  const source = { text: sandbox.configText(...choice), file: null, folder: '/' };
  return parseConfig(source, CONNECTORS, sandbox.environment());
}

describe('the configuration that the sandbox prints', () => {
  it('is accepted as it is, with the environment beside it', () => {
    const { upstreams, pages, site } = parsed();
    expect(upstreams.map(({ id, kind }) => [id, kind])).toEqual([
      ['edge', 'server-monitor'],
      ['svc', 'uptime-service'],
      ['backups', 'backup-control-plane'],
      ['crm', 'customer-journeys'],
    ]);
    expect(pages.map(({ slug, access_type }) => [slug, access_type])).toEqual([
      ['acme', 'public'],
      ['partners', 'password'],
      ['staff', 'email-domain'],
    ]);
    expect(site.home).toBe('acme');
    // Only the real wire tells of reports, maintenances and days before the first pass.
    expect(sandbox.configText()).toContain('preset: openstatus');
  });

  it('is accepted with every upstream in it, and with none of the pages', () => {
    const { upstreams, pages } = parsed({ include: sandbox.upstreams, hasPages: false });
    const ids = SANDBOXES.flatMap((kind) => kind.upstreams.flatMap((upstream) => upstream.ids));
    expect(new Set(upstreams.map(({ id }) => id))).toEqual(new Set(ids));
    expect(ids).toEqual(expect.arrayContaining(['svc', 'real']));
    expect(pages).toEqual([]);
  });

  it.each([
    ['server-monitor', 'edge'],
    ['uptime', 'svc'],
    ['openstatus', 'svc'],
  ] as const)('is accepted with %s alone, as %s', (name, id) => {
    const { upstreams, pages } = parsed({ include: [name] });
    expect(upstreams.map((upstream) => upstream.id)).toEqual([id]);
    expect(pages).toHaveLength(3);
  });

  it('holds no secret, and the environment holds each', () => {
    const text = sandbox.configText({ include: sandbox.upstreams });
    for (const [name, value] of Object.entries(sandbox.environment())) {
      expect(text).not.toContain(value);
      expect(name).toMatch(/^[A-Z_]+$/);
    }
    const used = [...text.matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name]) => name ?? '');
    expect(Object.keys(sandbox.environment())).toEqual(expect.arrayContaining(used));
  });

  it('names on the public page no monitor of the uptime service that is not public', () => {
    const [acme] = parsed().pages;
    const ids = acme?.components?.flatMap(({ monitor = '' }) => /^svc\/(\d+)$/.exec(monitor)?.[1] ?? []) ?? [];
    expect(ids.length).toBeGreaterThan(1);
    expect(ids.every((id) => sandbox.world.find(`svc/${id}`)?.isPublic)).toBe(true);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asked, startTestSandbox, type TestSandbox } from '../helpers/sandbox.ts';

interface StateResource {
  readonly mode: string;
  readonly type: string;
  readonly name: string;
  readonly instances: readonly { readonly attributes: Record<string, unknown> }[];
}

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.stop());

function ask(path: string, headers?: Record<string, string>, method = 'GET'): Promise<Asked> {
  const own = { authorization: `Bearer ${sandbox.credentials.terraformToken}` };
  return sandbox.ask(`/terraform${path}`, { headers: headers ?? own, method });
}

async function resources(path = '/state'): Promise<readonly StateResource[]> {
  return ((await ask(path)).json as { resources: readonly StateResource[] }).resources;
}

describe('the Terraform state over HTTP', () => {
  it('is a raw state of version 4 with every documented resource type', async () => {
    const { json } = await ask('/state');
    expect(json).toMatchObject({ version: 4, terraform_version: expect.any(String), lineage: expect.any(String) });
    const types = new Set((await resources()).map(({ mode, type }) => `${mode} ${type}`));
    expect(types).toEqual(
      new Set([
        'managed svc_http_monitor',
        'managed svc_tcp_monitor',
        'managed svc_dns_monitor',
        'managed svc_notification',
        'managed svc_status_page',
        'managed svc_status_page_component_group',
        'managed svc_status_page_component',
        'data svc_monitors',
        'data svc_monitor',
      ]),
    );
  });

  it('refers only to pages, groups and monitors that are in it', async () => {
    const all = await resources();
    const ids = (suffix: string): unknown[] =>
      all
        .filter(({ mode, type }) => mode === 'managed' && type.endsWith(suffix))
        .map((one) => one.instances[0]?.attributes['id']);
    const components = all.filter(({ type }) => type === 'svc_status_page_component');
    expect(components.length).toBeGreaterThan(3);
    for (const { instances } of components) {
      const { page_id, monitor_id, group_id } = instances[0]?.attributes ?? {};
      expect(ids('status_page')).toContain(page_id);
      expect(ids('_monitor')).toContain(monitor_id);
      if (group_id !== null) expect(ids('group')).toContain(group_id);
    }
  });

  it('marks its secrets as sensitive', async () => {
    const { text, json } = await ask('/show');
    const { values } = json as { values: { root_module: { resources: { type: string; sensitive_values: object }[] } } };
    const sensitive = values.root_module.resources.filter((one) => Object.keys(one.sensitive_values).length > 0);
    expect(new Set(sensitive.map(({ type }) => type))).toEqual(new Set(['svc_notification', 'svc_status_page']));
    expect(text).toContain('"access_type":"password"');
  });

  it('has the same resources as terraform show prints them', async () => {
    const { json } = await ask('/show');
    const shown = (json as { values: { root_module: { resources: { address: string; values: unknown }[] } } }).values
      .root_module.resources;
    const raw = await resources();
    expect(shown.map(({ values }) => values)).toEqual(raw.map(({ instances }) => instances[0]?.attributes));
    expect(shown.map(({ address }) => address)).toContain('svc_http_monitor.website');
    expect(shown.map(({ address }) => address)).toContain('data.svc_monitor.search');
  });

  it('can use the types of the real provider', async () => {
    const types = (await resources('/openstatus/state')).map(({ type }) => type);
    expect(types.every((type) => type.startsWith('openstatus_'))).toBe(true);
  });

  it('wants its token, as a bearer or as the password of basic authentication', async () => {
    const basic = Buffer.from(`terraform:${sandbox.credentials.terraformToken}`).toString('base64');
    const statuses = [
      (await ask('/state', {})).status,
      (await ask('/state', { authorization: 'Bearer wrong' })).status,
      (await ask('/state', { authorization: `Basic ${Buffer.from('a:wrong').toString('base64')}` })).status,
      (await ask('/state', { authorization: `Basic ${basic}` })).status,
    ];
    expect(statuses).toEqual([401, 401, 401, 200]);
  });

  it('can only be read', async () => {
    const statuses = [(await ask('/state', undefined, 'POST')).status, (await ask('/nothing')).status];
    expect(statuses).toEqual([405, 404]);
  });
});

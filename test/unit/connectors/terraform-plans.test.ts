import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { terraform } from '../../../src/sync/connectors/terraform/connector.ts';
import { contextOf, drive } from '../../helpers/drive.ts';

type Row = Readonly<Record<string, unknown>>;

const OPTIONS = { path: '/srv/plan.json', preset: 'openstatus' };
const refersTo = (...references: string[]): Row => ({ references });

interface Planned {
  readonly type: string;
  readonly name: string;
  readonly values?: Row;
  readonly unknown?: Row;
  readonly expressions?: Row;
  readonly keys?: readonly (string | number)[];
  readonly forEach?: Row;
}

const addressOf = ({ type, name }: Planned, key?: string | number): string =>
  `openstatus_${type}.${name}${key === undefined ? '' : `[${JSON.stringify(key)}]`}`;

/** What `terraform show -json` prints of a plan that creates everything. */
function planOf(resources: readonly Planned[], more: Row = {}): Row {
  const instances = resources.flatMap((one) => (one.keys ?? [undefined]).map((key) => ({ one, key })));
  return {
    format_version: '1.2',
    planned_values: {
      root_module: {
        resources: instances.map(({ one, key }) => ({
          address: addressOf(one, key),
          mode: 'managed',
          type: `openstatus_${one.type}`,
          name: one.name,
          ...(key === undefined ? {} : { index: key }),
          values: one.values ?? {},
        })),
      },
    },
    resource_changes: instances.map(({ one, key }) => ({
      address: addressOf(one, key),
      change: { actions: ['create'], after_unknown: { id: true, ...one.unknown } },
    })),
    configuration: {
      root_module: {
        resources: resources.map((one) => ({
          address: addressOf(one),
          expressions: one.expressions ?? {},
          ...(one.forEach === undefined ? {} : { for_each_expression: one.forEach }),
        })),
      },
    },
    ...more,
  };
}

async function read(body: unknown, options: Row = OPTIONS): Promise<Learned> {
  return (await drive<Learned>(terraform.pull(terraform.optionsSchema.parse(options), contextOf()), () => body)).result;
}

const PAGE: Planned = { type: 'status_page', name: 'p', values: { title: 'P', slug: 'p' } };
const HTTP: Row = { name: 'M', url: 'https://m.test', periodicity: '1m', active: true };
const component = (more: Partial<Planned> = {}, monitor: Row = refersTo('openstatus_http_monitor.m.id')): Planned => ({
  type: 'status_page_component',
  name: 'c',
  values: { type: 'monitor', name: 'C' },
  unknown: { page_id: true, monitor_id: true },
  expressions: { page_id: refersTo('openstatus_status_page.p.id'), monitor_id: monitor },
  ...more,
});
const monitorsOf = ({ pages }: Learned) => pages.flatMap((page) => page.components.map(({ monitor }) => monitor));
const notesOf = ({ problems }: Learned) => problems.map(({ kind, place }) => `${kind} ${place}`);

describe('a plan before anything is applied', () => {
  it('finds what ids will lead to by what the configuration refers to', async () => {
    const learned = await read(planOf([PAGE, { type: 'http_monitor', name: 'm', values: HTTP }, component()]));
    expect(monitorsOf(learned)).toEqual(['up/http_monitor.m']);
    expect(learned.problems).toEqual([]);
  });

  it.each([
    ['by its own key', refersTo('openstatus_http_monitor.m', 'each.key'), refersTo('var.sites')],
    ['by what each is', refersTo('each.value.id', 'each.value'), refersTo('openstatus_http_monitor.m')],
    ['by count', refersTo('openstatus_http_monitor.m', 'count.index'), refersTo()],
  ])('pairs the instances of two resources %s', async (_, monitor, forEach) => {
    const keys = ['eu', 'us.west'];
    const learned = await read(
      planOf([PAGE, { type: 'http_monitor', name: 'm', values: HTTP, keys }, component({ keys, forEach }, monitor)]),
    );
    expect(monitorsOf(learned)).toEqual(['up/http_monitor.m-eu', 'up/http_monitor.m-us-west']);
    expect(learned.pages[0]?.components.map(({ id }) => id)).toEqual(['c-eu', 'c-us-west']);
    expect(learned.problems).toEqual([]);
  });

  it('takes the instance that is named, of all that there are', async () => {
    const monitor = refersTo(
      'openstatus_http_monitor.m[1].id',
      'openstatus_http_monitor.m[1]',
      'openstatus_http_monitor.m',
    );
    const learned = await read(
      planOf([PAGE, { type: 'http_monitor', name: 'm', values: HTTP, keys: [0, 1, 2] }, component({}, monitor)]),
    );
    expect(monitorsOf(learned)).toEqual(['up/http_monitor.m-1']);
  });

  it.each([
    ['either of two', refersTo('openstatus_http_monitor.m.id', 'openstatus_http_monitor.n.id')],
    ['a local', refersTo('local.monitor')],
    ['a variable of the root', refersTo('var.monitor')],
    ['all instances at once', refersTo('openstatus_http_monitor.n')],
    ['a circle', refersTo('each.value')],
  ])('shows a component whose monitor is %s as unknown, and says so', async (_, monitor) => {
    const learned = await read(
      planOf([
        PAGE,
        { type: 'http_monitor', name: 'm', values: HTTP },
        { type: 'http_monitor', name: 'n', values: HTTP, keys: ['a', 'b'] },
        component({ forEach: refersTo('each.value') }, monitor),
      ]),
    );
    expect(monitorsOf(learned)).toEqual(['up/component-c']);
    expect(notesOf(learned)).toEqual(['note openstatus_status_page_component.c.monitor_id']);
  });

  it('leaves out a component whose page nobody can tell, and says so', async () => {
    const learned = await read(
      planOf([
        PAGE,
        { type: 'http_monitor', name: 'm', values: HTTP },
        component({
          expressions: { page_id: refersTo('local.page'), monitor_id: refersTo('openstatus_http_monitor.m.id') },
        }),
      ]),
    );
    expect(learned.pages[0]?.components).toEqual([]);
    expect(notesOf(learned)).toEqual(['note openstatus_status_page_component.c.page_id']);
  });

  it('takes what the configuration leaves out for what the provider means, and what it refers to for hidden', async () => {
    const unknown = { access_type: true, password: true, auth_email_domains: true, allow_index: true };
    const accessOf = async (expressions: Row) => {
      const { pages } = await read(planOf([{ ...PAGE, unknown, expressions }]));
      return pages.map(({ access, presentation }) => [access, presentation?.allowIndex]);
    };
    expect(await accessOf({})).toEqual([['public', undefined]]);
    expect(await accessOf({ access_type: refersTo('var.access') })).toEqual([['closed', undefined]]);
    expect(await accessOf({ password: refersTo('random_password.p.result') })).toEqual([['password', undefined]]);
    expect(await accessOf({ auth_email_domains: refersTo('var.domains') })).toEqual([['email-domain', undefined]]);
    expect(await accessOf({ allow_index: refersTo('var.index') })).toEqual([['public', false]]);
  });

  it('is kept closed where it does not say what its configuration was', async () => {
    const { configuration: _, ...plan } = planOf([{ ...PAGE, unknown: { access_type: true } }]);
    expect((await read(plan)).pages.map(({ access }) => access)).toEqual(['closed']);
  });

  it('follows variables into modules and outputs out of them, each instance by itself', async () => {
    const keys = ['a', 'b'];
    const inModule = (type: string, name: string, key: string, values: Row) => ({
      address: `module.site["${key}"].openstatus_${type}.${name}`,
      mode: 'managed',
      type: `openstatus_${type}`,
      name,
      values,
    });
    const plan = planOf(
      [
        PAGE,
        component(
          { keys, forEach: refersTo('var.sites'), values: { type: 'monitor' } },
          refersTo('module.site', 'each.key', 'module.site["b"].monitor'),
        ),
      ],
      {},
    ) as { planned_values: { root_module: Row }; configuration: { root_module: Row }; resource_changes: Row[] };
    const learned = await read({
      ...plan,
      planned_values: {
        root_module: {
          ...plan.planned_values.root_module,
          child_modules: keys.map((key) => ({
            address: `module.site["${key}"]`,
            resources: [
              inModule('http_monitor', 'm', key, HTTP),
              inModule('status_page_component', 'inner', key, { type: 'monitor' }),
            ],
          })),
        },
      },
      resource_changes: [
        ...plan.resource_changes,
        ...keys.map((key) => ({
          address: `module.site["${key}"].openstatus_status_page_component.inner`,
          change: { after_unknown: { id: true, page_id: true, monitor_id: true } },
        })),
      ],
      configuration: {
        root_module: {
          ...plan.configuration.root_module,
          module_calls: {
            site: {
              expressions: { page: refersTo('openstatus_status_page.p.id') },
              for_each_expression: refersTo('var.sites'),
              module: {
                outputs: { monitor: { expression: refersTo('openstatus_http_monitor.m.id') } },
                resources: [
                  { address: 'openstatus_http_monitor.m', expressions: {} },
                  {
                    address: 'openstatus_status_page_component.inner',
                    expressions: {
                      page_id: refersTo('var.page'),
                      monitor_id: refersTo('openstatus_http_monitor.m.id'),
                    },
                  },
                ],
              },
            },
          },
        },
      },
    });
    expect(learned.pages[0]?.components.map(({ id, monitor }) => [id, monitor])).toEqual([
      ['c-a', 'up/http_monitor.site-b-m'],
      ['c-b', 'up/http_monitor.site-b-m'],
      ['site-a-inner', 'up/http_monitor.site-a-m'],
      ['site-b-inner', 'up/http_monitor.site-b-m'],
    ]);
    expect(learned.problems).toEqual([]);
  });

  it('that ended with an error is refused as a whole', async () => {
    await expect(read(planOf([PAGE], { errored: true }))).rejects.toMatchObject({
      code: 'UPSTREAM_SHAPE',
      message: expect.stringContaining('this plan ended with an error'),
    });
  });

  it('names what is deferred to a later plan', async () => {
    const deferred = [{ reason: 'absent_prereq', resource_change: { address: 'openstatus_http_monitor.later' } }];
    expect(notesOf(await read(planOf([PAGE], { deferred_changes: deferred })))).toEqual([
      'note openstatus_http_monitor.later',
    ]);
  });
});

describe('states', () => {
  it('of older versions of terraform show have addresses without module and key', async () => {
    const resource = {
      address: 'openstatus_http_monitor.m',
      mode: 'managed',
      type: 'openstatus_http_monitor',
      name: 'm',
    };
    const { monitors } = await read({
      format_version: '0.1',
      values: {
        root_module: {
          child_modules: [
            {
              address: 'module.web',
              resources: [
                { ...resource, index: 0, values: HTTP },
                { ...resource, index: 1, values: HTTP },
              ],
            },
          ],
        },
      },
    });
    expect(monitors.map(({ id }) => id)).toEqual(['up/http_monitor.web-m-0', 'up/http_monitor.web-m-1']);
  });

  it('name what is about to be destroyed, and leave it out', async () => {
    const learned = await read({
      version: 4,
      resources: [
        {
          mode: 'managed',
          type: 'openstatus_http_monitor',
          name: 'm',
          instances: [{ attributes: { ...HTTP, id: '2' } }, { deposed: 'a1b2', attributes: { ...HTTP, id: '1' } }],
        },
      ],
    });
    expect(learned.monitors.map(({ id }) => id)).toEqual(['up/2']);
    expect(notesOf(learned)).toEqual(['note openstatus_http_monitor.m']);
  });

  it('of before Terraform 0.12 say what to do', async () => {
    await expect(read({ version: 3, modules: [] })).rejects.toMatchObject({
      message: expect.stringContaining('a state from before Terraform 0.12'),
    });
  });
});

describe('channels', () => {
  const KINDS = {
    discord: { webhook_url: 'https://secret.test/discord' },
    email: { email: 'secret@x.test' },
    slack: { webhook_url: 'https://secret.test/slack' },
    pagerduty: { integration_key: 'secret' },
    opsgenie: { api_key: 'secret', region: 'eu' },
    webhook: { endpoint: 'https://secret.test/hook', headers: [{ key: 'a', value: 'secret' }] },
    telegram: { chat_id: 'secret' },
    sms: { phone_number: '+49 secret' },
    whatsapp: { phone_number: '+49 secret' },
    google_chat: { webhook_url: 'https://secret.test/chat' },
    grafana_oncall: { webhook_url: 'https://secret.test/oncall' },
    ntfy: { topic: 'secret', token: 'secret' },
    ms_teams: { webhook_url: 'https://secret.test/teams' },
  };

  it.each(Object.entries(KINDS))(
    'of the kind %s are kept by name, kind and monitors, without where they lead',
    async (kind, block) => {
      const learned = await read({
        version: 4,
        resources: [
          {
            mode: 'managed',
            type: 'openstatus_notification',
            name: 'n',
            instances: [
              {
                attributes: { id: '7', name: 'On call', provider_type: kind, monitor_ids: ['3', '1'], [kind]: [block] },
              },
            ],
          },
        ],
      });
      expect(learned.channels).toEqual([{ id: 'up/7', name: 'On call', kind, monitors: ['up/1', 'up/3'] }]);
      expect(learned.problems).toEqual([]);
      expect(JSON.stringify(learned)).not.toContain('secret');
    },
  );
});

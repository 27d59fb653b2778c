import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { terraform } from '../../../src/sync/connectors/terraform/connector.ts';
import { contextOf, drive, refusal } from '../../helpers/drive.ts';

type Row = Readonly<Record<string, unknown>>;
/** Files by folder and name. */
type Folders = Readonly<Record<string, Readonly<Record<string, string>>>>;

async function read(folders: Folders, options: Row = {}): Promise<Learned> {
  const parsed = terraform.optionsSchema.parse({ path: '/srv', ...options });
  const { result } = await drive<Learned>(terraform.pull(parsed, contextOf()), ({ url, reads }) => {
    const path = new URL(url).pathname;
    if (reads === 'text') return folders[path.slice(0, path.lastIndexOf('/'))]?.[path.slice(path.lastIndexOf('/') + 1)];
    const files = folders[path];
    return files === undefined ? refusal(404) : Object.entries(files).map(([name, text]) => ({ name, text }));
  });
  return result;
}
const monitor = (name: string, more = ''): string =>
  `resource "svc_http_monitor" "${name}" {\n  name = "${name}"\n  url = "https://${name}.test"\n  periodicity = "1m"\n${more}}\n`;
const notesOf = ({ problems }: Learned) => problems.map(({ kind, place }) => `${kind} ${place}`);
const namesOf = ({ monitors }: Learned) => monitors.map(({ id, name }) => `${id} ${name}`);

describe('module blocks', () => {
  it('are read as the folders that they name, however deep, values going in and coming out', async () => {
    const learned = await read({
      '/srv': {
        'main.tf':
          'module "a" {\n  source = "./a"\n  stage = "prod"\n}\nresource "svc_status_page" "p" {\n  title = "P"\n  slug = module.a.slug\n}\n',
      },
      '/srv/a': {
        'main.tf':
          'variable "stage" {}\nmodule "b" {\n  source = "../b"\n  stage = var.stage\n}\noutput "slug" { value = "x-${module.b.slug}" }\n',
      },
      '/b': { 'none.tf': '' },
      '/srv/b': { 'main.tf': `variable "stage" {}\n${monitor('m')}output "slug" { value = "y-\${var.stage}" }\n` },
    });
    expect(learned.pages.map(({ slug }) => slug)).toEqual(['x-y-prod']);
    expect(namesOf(learned)).toEqual(['up/http_monitor.a-b-m m']);
    expect(learned.problems).toEqual([]);
  });

  it.each([
    ['from a registry', 'source = "acme/status/svc"'],
    ['from git', 'source = "git::https://x.test/m.git"'],
    ['by an absolute path', 'source = "/etc"'],
    ['whose source is computed', 'source = "./${var.x}"\n  count = 2'],
    ['in numbers', 'source = "./a"\n  for_each = toset(["a"])'],
  ])('%s are named and left out', async (_, body) => {
    const learned = await read({
      '/srv': { 'main.tf': `module "m" {\n  ${body}\n}\n${monitor('own')}` },
      '/srv/a': {},
    });
    expect(namesOf(learned)).toEqual(['up/http_monitor.own own']);
    expect(notesOf(learned)).toEqual(['note module.m']);
  });

  it('that call themselves end, and are named', async () => {
    const learned = await read({ '/srv': { 'main.tf': `module "m" { source = "./" }\n${monitor('x')}` } });
    expect(learned.monitors.length).toBe(11);
    expect(notesOf(learned)).toEqual([`note ${'module.m.'.repeat(11).slice(0, -1)}`]);
  });

  it('whose folder cannot be read refuse the whole, so that the last good definitions stay', async () => {
    await expect(read({ '/srv': { 'main.tf': 'module "m" { source = "./gone" }\n' } })).rejects.toMatchObject({
      code: 'UPSTREAM_REFUSED',
    });
  });

  it('of a single file are read beside it, and over HTTP named', async () => {
    const folders = { '/srv': { 'one.tf': 'module "m" { source = "./a" }\n' }, '/srv/a': { 'm.tf': monitor('x') } };
    expect(namesOf(await read(folders, { path: '/srv/one.tf' }))).toEqual(['up/http_monitor.m-x x']);
    const parsed = terraform.optionsSchema.parse({ url: 'https://files.test/one.tf' });
    const { result } = await drive<Learned>(terraform.pull(parsed, contextOf()), () => folders['/srv']['one.tf']);
    expect(notesOf(result)).toEqual(['note module.m']);
  });
});

describe('other files of a folder', () => {
  it('in JSON say the same, with lists or objects at every level and comments', async () => {
    const body = { name: '${var.name}', url: 'https://x.test', periodicity: '1m' };
    const json = {
      '//': 'a comment',
      variable: [{ name: { default: 'J' } }],
      locals: [{ a: 1 }, { b: 2 }],
      resource: [{ svc_http_monitor: { '//': 'too', one: body } }, { svc_http_monitor: [{ two: [body] }] }],
    };
    const learned = await read({ '/srv': { 'main.tf.json': JSON.stringify(json) } });
    expect(namesOf(learned)).toEqual(['up/http_monitor.one J', 'up/http_monitor.two J']);
    await expect(read({ '/srv': { 'bad.tf.json': '{"resource": hunter2' } })).rejects.toMatchObject({
      message: expect.stringMatching(/bad\.tf\.json is not a JSON object/),
    });
  });

  it('give values to variables in the order that Terraform has', async () => {
    const files = {
      'main.tf':
        'variable "a" { default = "0" }\nvariable "b" {}\nvariable "c" {}\nvariable "d" {}\nresource "svc_http_monitor" "m" {\n  name = "${var.a}${var.b}${var.c}${var.d}"\n  url = "https://m.test"\n  periodicity = "1m"\n}\n',
      'terraform.tfvars': 'a = "1"\nb = "1"\nc = "1"\nd = "1"\n',
      'terraform.tfvars.json': '{"b":"2","c":"2","d":"2"}',
      'a.auto.tfvars': 'c = "3"\nd = "3"\n',
      'b.auto.tfvars.json': '{"d":"4"}',
      'prod.tfvars': 'a = "9"\n',
    };
    const learned = await read({ '/srv': files });
    expect(namesOf(learned)).toEqual(['up/http_monitor.m 1234']);
    expect(notesOf(learned)).toEqual(['note prod.tfvars']);
  });

  it('override what they name, gates too', async () => {
    const page = 'resource "svc_status_page" "p" {\n  title = "P"\n  slug = "p"\n}\n';
    const override = 'resource "svc_status_page" "p" {\n  access_type = "password"\n  password = "x"\n}\n';
    for (const name of ['override.tf', 'gates_override.tf']) {
      const { pages } = await read({ '/srv': { 'a.tf': page, [name]: override } });
      expect(pages.map(({ access, title }) => [access, title])).toEqual([['password', 'P']]);
    }
  });

  it('never reach the prototype of anything', async () => {
    const learned = await read({
      '/srv': {
        'a.tf.json': '{"locals":{"__proto__":{"polluted":"yes"}},"variable":{"constructor":{}}}',
        'b.tf':
          'resource "svc_http_monitor" "m" {\n  name = "${local.polluted}"\n  url = "${var.toString}"\n  periodicity = "1m"\n}\n',
      },
    });
    expect(namesOf(learned)).toEqual(['up/http_monitor.m m']);
    expect(({} as Row)['polluted']).toBeUndefined();
  });
});

describe('what stands for something that cannot be read', () => {
  it('is a saved plan, which says how to print it', () => {
    const parsed = terraform.optionsSchema.safeParse({ path: 'infra/status.tfplan' });
    expect(parsed.error?.issues[0]?.message).toContain('terraform show -json');
  });

  it('is an instance that only Terraform knows: who refers to it is named too', async () => {
    const learned = await read({
      '/srv': {
        'a.tf': `${monitor('many', '  for_each = toset(["a"])\n')}resource "svc_status_page" "p" {\n  title = "P"\n  slug = "p"\n}\nresource "svc_status_page_component" "c" {\n  page_id = svc_status_page.p.id\n  type = "monitor"\n  monitor_id = svc_http_monitor.many["a"].id\n  group_id = svc_status_page_component_group.gone.id\n}\n`,
      },
    });
    expect(learned.pages[0]?.components.map(({ monitor: shown, groupId }) => [shown, groupId])).toEqual([
      ['up/component-c', null],
    ]);
    expect(notesOf(learned)).toEqual([
      'note svc_http_monitor.many',
      'note svc_status_page_component.c.group_id',
      'note svc_status_page_component.c.monitor_id',
    ]);
  });
});

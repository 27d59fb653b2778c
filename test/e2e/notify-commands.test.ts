import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { PROGRAMS } from '../helpers/channel-shapes.ts';
import { SIGNING_SECRET } from '../helpers/channels.ts';
import { startMailSink } from '../helpers/mail-sink.ts';
import { type CommandResult, temporaryFolder } from '../helpers/pharos.ts';
import { runWarm } from '../helpers/warm.ts';

const SLACK_PATH = '/services/T0/B0/key';

describe('pharos notify test', () => {
  const folder = temporaryFolder();
  let server: Server;
  let origin = '';
  let status = 200;
  let requests: { readonly path: string; readonly body: string }[] = [];
  const run = (...args: string[]): Promise<CommandResult> =>
    runWarm(args, {
      cwd: folder.path,
      env: { HOOK: `${origin}${SLACK_PATH}`, ONCALL: `${origin}/oncall/`, SIGNING: SIGNING_SECRET },
    });

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        const path = request.url ?? '';
        requests.push({ path, body });
        response.writeHead(status).end(status === 200 ? 'ok' : `no_service ${path}`);
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const loopback = { allow_private_hosts: ['127.0.0.1'] };
    const notification = (id: string, attributes: object) => ({
      mode: 'managed',
      type: 'svc_notification',
      name: `n${id}`,
      provider: 'p',
      instances: [{ attributes: { id, monitor_ids: ['1'], ...attributes } }],
    });
    const monitor = {
      id: '1',
      name: 'API',
      url: 'https://api.example.net',
      periodicity: '1m',
      active: true,
      public: true,
    };
    writeFileSync(
      join(folder.path, 'state.json'),
      JSON.stringify({
        version: 4,
        serial: 1,
        lineage: 'x',
        outputs: {},
        resources: [
          {
            mode: 'managed',
            type: 'svc_http_monitor',
            name: 'api',
            provider: 'p',
            instances: [{ attributes: monitor }],
          },
          notification('31', { provider_type: 'slack', slack: [{ webhook_url: `${origin}${SLACK_PATH}` }] }),
          notification('32', { provider_type: 'telegram', telegram: [{ chat_id: '7' }] }),
          notification('33', { provider_type: 'email', email: [{ email: 'ops@example.com' }] }),
          notification('34', { provider_type: 'discord' }),
          notification('35', { provider_type: 'webhook', monitor_ids: [], webhook: [{ endpoint: origin }] }),
          notification('36', { provider_type: 'webhook', webhook: [{ endpoint: `${origin}/hook` }] }),
          notification('37', { provider_type: 'pigeon' }),
        ],
      }),
    );
    writeFileSync(
      join(folder.path, 'pharos.yaml'),
      stringify({
        site: { url: 'https://status.example.com' },
        upstreams: [{ id: 'iac', kind: 'terraform', path: './state.json' }],
        notifications: [
          { id: 'team', kind: 'slack', webhook_url: '${HOOK}', pages: ['acme'], ...loopback },
          { id: 'oncall', kind: 'grafana_oncall', webhook_url: '${ONCALL}', ...loopback },
          { id: 'shut', kind: 'webhook', endpoint: 'https://127.0.0.1:9/', secrets: ['${SIGNING}'] },
          { id: 'all', from: 'iac', ...loopback },
        ],
      }),
    );
  });
  beforeEach(() => {
    status = 200;
    requests = [];
  });
  afterAll(() => {
    server?.close();
    folder.remove();
  });

  it('sends a test message that the program takes, and says so', async () => {
    const result = await run('notify', 'test', 'team');
    expect([result.status, result.stdout]).toEqual([0, '✓ team: the slack channel accepted a test message.\n']);
    expect(requests).toHaveLength(1);
    const [request = { path: '', body: '' }] = requests;
    const headers = { 'content-type': 'application/json' };
    expect(
      PROGRAMS.slack.faults({
        method: 'POST',
        headers,
        ...request,
      }),
    ).toEqual([]);
    expect(request.body).toContain('This is a test of the notification channel team. Nothing is wrong.');
    expect(result.stdout + result.stderr).not.toContain(SLACK_PATH);
  });

  it('says why each address of an email channel was refused', async () => {
    const sink = await startMailSink({
      onRcptTo: ({ address }, _, done) => done(address.startsWith('ok') ? null : new Error(`no mailbox ${address}`)),
    });
    const file = join(folder.path, 'mail.yaml');
    const email = ['one', 'ok', 'two'].map((name) => `${name}@ops.example`);
    const config = { site: { url: 'https://status.example.com' }, access: { smtp: '${SMTP}', from: 'a@b.example' } };
    writeFileSync(file, stringify({ ...config, notifications: [{ id: 'staff', kind: 'email', email }] }));
    const env = { SMTP: sink.url };
    const { status, stdout } = await runWarm(['notify', 'test', 'staff', '--config', file], { cwd: folder.path, env });
    await sink.close();
    expect(status).toBe(1);
    for (const [name, isNamed] of [
      ['one', true],
      ['two', true],
      ['ok', false],
    ] as const)
      expect([name, stdout.includes(`${name}@ops.example`)]).toEqual([name, isNamed]);
  });

  it('opens an alert and closes it again', async () => {
    expect((await run('notify', 'test', 'oncall')).status).toBe(0);
    const [opened, closed] = requests.map(({ body }) => JSON.parse(body));
    expect([opened.state, closed.state]).toEqual(['alerting', 'ok']);
    expect(opened.alert_uid).toBe(closed.alert_uid);
  });

  it('says why it was not taken', async () => {
    status = 404;
    const refused = await run('notify', 'test', 'team');
    expect([refused.status, refused.stdout]).toEqual([
      1,
      '✗ team: the slack channel did not accept a test message: status 404: no_service ***\n',
    ]);
    const json = await run('notify', 'test', 'shut', '--json');
    expect(json.status).toBe(1);
    expect(JSON.parse(json.stdout)).toEqual({
      ok: false,
      channel: 'shut',
      kind: 'webhook',
      outcome: 'postponed',
      reason: expect.stringContaining('not public'),
      afterMs: null,
    });
  });

  it('names the channels that there are, and the one that was probably meant', async () => {
    const result = await run('notify', 'test', 'tean');
    expect(result.status).toBe(2);
    expect(result.stderr).toContain(
      'There is no channel "tean". Did you mean team? Use one of: team, oncall, shut, all/31',
    );
  });

  it('sends through what Terraform has, and names what cannot be sent through', async () => {
    expect((await run('notify', 'test', 'all/31')).status).toBe(0);
    expect(requests.map(({ path }) => path)).toEqual([SLACK_PATH]);
    const off = await run('notify', 'test', 'all/32');
    expect([off.status, off.stdout]).toEqual([
      1,
      '✗ all/32 is off: the upstream doesn’t provide its bot token; set bot_token next to from\n',
    ]);
  });

  it('pharos check lists channels, without secrets', async () => {
    const { stdout } = await run('check');
    const lines = stdout.split('\n').filter((line) => /^. channel/.test(line));
    expect(lines).toEqual([
      '✓ channel team (slack): pages acme',
      '✓ channel oncall (grafana_oncall): every page',
      '✓ channel shut (webhook): every page',
      '✓ channel all/31 (slack): monitors iac/1',
      '! channel all/32 (telegram) is off: the upstream doesn’t provide its bot token; set bot_token next to from',
      '! channel all/33 (email) is off: it needs a mail server: set access.smtp and access.from',
      '! channel all/34 (discord) is off: the upstream doesn’t provide its settings; use a state or variables that contain them, or configure the channel here',
      '! channel all/35 (webhook) is off: no monitor triggers it',
      '! channel all/36 (webhook) is off: there is no secret to sign its requests; set secrets next to from',
      '! channel all/37 (pigeon) is off: Pharos has no channels of kind pigeon',
    ]);
    const json = await run('check', '--json');
    expect(JSON.parse(json.stdout).channels).toContainEqual({
      id: 'team',
      kind: 'slack',
      pages: ['acme'],
      components: null,
      monitors: null,
    });
    expect(stdout + json.stdout).not.toMatch(/services\/T0|whsec_/);
  });
});

import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  alertmanagerMessage,
  grafanaTest,
  kumaCertificate,
  kumaMessage,
  kumaTest,
  opsgenieMessage,
  pagerdutyMessage,
  pagerdutyOther,
  pagerdutyTest,
} from '../helpers/alert-messages.ts';
import { type RunningPharos, temporaryFolder } from '../helpers/pharos.ts';
import { runWarm } from '../helpers/warm.ts';
import { callApi, OPERATOR, startWritingSite, WRITING_CONFIG, WRITING_ENV } from '../helpers/writing-site.ts';

const { INTAKE: SECRET = '', INTAKE_OLD: OLD_SECRET = '' } = WRITING_ENV;
const REPLAYS = Math.max(100, Math.round(100 * Number(process.env['PHAROS_TEST_SCALE'] ?? 1)));
const CONFIG = `${WRITING_CONFIG}intake:
  - { id: prom, page: acme, preset: alertmanager, secrets: ["\${INTAKE}"], severities: { critical: major_outage } }
  - { id: graf, page: acme, preset: grafana, header: x-secret, secrets: ["\${INTAKE_OLD}", "\${INTAKE}"] }
  - { id: pager, page: acme, preset: pagerduty, secrets: ["\${INTAKE}"], components: { "Checkout service": web },
      severities: { P1: major_outage, P3: partial_outage } }
  - { id: kuma, page: acme, preset: uptime-kuma, secrets: ["\${INTAKE}"], state: major_outage }
  - { id: genie, page: acme, preset: opsgenie, secrets: ["\${INTAKE}"], severities: { P1: major_outage } }
  - id: own
    page: acme
    secrets: ["\${INTAKE}"]
    published: false
    mapping: { key: id, status: state.word, firing: [down], resolved: [up], title: what, component: where }
`;

/** When incidents of PagerDuty were created: long ago, which says nothing of when they were reopened. */
const AT = '2026-11-01T00:00:00Z';

describe('the intake of alerts', () => {
  const folder = temporaryFolder();
  let pharos: RunningPharos;

  beforeAll(async () => {
    pharos = await startWritingSite(folder.path, CONFIG);
  });
  afterAll(async () => {
    await pharos?.stop();
    folder.remove();
  });

  async function send(intake: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    const answer = await fetch(`${pharos.url}/-/intake/${intake}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}`, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: answer.status, body: await answer.json().catch(() => null) };
  }
  const did = async (intake: string, body: unknown, headers = {}) => {
    const answer = await send(intake, body, headers);
    expect([answer.status, answer.body?.issues]).toEqual([200, undefined]);
    return answer.body.alerts.map((alert: { did: string }) => alert.did).join(' ');
  };
  /** One alert as Alertmanager sends it, minutes from now. */
  const prom = (fingerprint: string, status: string, from: number, to: number | null = null, labels = {}) => ({
    version: '4',
    status,
    alerts: [
      {
        status,
        fingerprint,
        labels: { alertname: 'HighErrorRate', severity: 'critical', component: 'api', ...labels },
        annotations: { summary: `Errors ${fingerprint}`, description: 'More than *5 %* of requests fail.' },
        startsAt: minutes(from),
        endsAt: to === null ? '0001-01-01T00:00:00Z' : minutes(to),
      },
    ],
  });
  const minutes = (count: number): string => new Date(Date.now() + count * 60_000).toISOString();
  const incidents = async () =>
    (await callApi(pharos.url, 'GET', 'pages/acme/incidents')).body as Record<string, unknown>[];
  const named = async (name: string) =>
    (await incidents()).filter((incident) => incident['name'] === name).map(({ status }) => status);

  it('is one incident however often it is told, and is over when it is resolved', async () => {
    expect(await did('prom', prom('a1', 'firing', -2))).toBe('declared');
    const again = await Promise.all(Array.from({ length: REPLAYS }, () => did('prom', prom('a1', 'firing', -2))));
    expect(new Set(again)).toEqual(new Set(['known']));
    expect(await named('Errors a1')).toEqual(['investigating']);
    const { components } = await (await fetch(`${pharos.url}/acme/api/v2/components.json`)).json();
    expect(components[0]).toMatchObject({ name: 'API', status: 'major_outage' });
    expect(await (await fetch(`${pharos.url}/acme/`)).text()).toContain('Errors a1');
    expect(await did('prom', prom('a1', 'resolved', -2, -1))).toBe('resolved');
    for (let count = 0; count < 5; count += 1) expect(await did('prom', prom('a1', 'resolved', -2, -1))).toBe('known');
    expect(await named('Errors a1')).toEqual(['resolved']);
    // A message that came late does not open it again; one of a later time is a new one.
    expect(await did('prom', prom('a1', 'firing', -2))).toBe('late');
    expect(await named('Errors a1')).toEqual(['resolved']);
    expect(await did('prom', prom('a1', 'firing', 0))).toBe('declared');
    expect(await did('prom', prom('a1', 'resolved', -2, -1))).toBe('late');
    expect(await named('Errors a1')).toEqual(['investigating', 'resolved']);
    expect(await did('prom', prom('a1', 'resolved', 0, 1))).toBe('resolved');
  });

  it('is not opened by what fires after it was resolved', async () => {
    expect(await did('prom', prom('b1', 'resolved', -5, -4))).toBe('known');
    expect(await did('prom', prom('b1', 'firing', -5))).toBe('late');
    expect(await named('Errors b1')).toEqual([]);
    // Also where the sender tells no times.
    const own = (word: string) => ({ id: 7, state: { word }, what: 'Own', where: 'Website' });
    expect(await did('own', own('up'))).toBe('known');
    expect(await did('own', own('down'))).toBe('late');
    expect(await named('Own')).toEqual([]);
  });

  it('leaves an incident alone that an operator resolved before the alert ended', async () => {
    expect(await did('prom', prom('b2', 'firing', -2))).toBe('declared');
    const found = async () => (await incidents()).find(({ name }) => name === 'Errors b2');
    const { status } = await callApi(pharos.url, 'PATCH', `pages/acme/incidents/${(await found())?.['id']}`, {
      body: { incident: { status: 'resolved' } },
    });
    const before = await found();
    expect([status, before]).toEqual([200, expect.objectContaining({ status: 'resolved', version: 2 })]);
    expect(await did('prom', prom('b2', 'resolved', -2, -1))).toBe('resolved');
    // An editor who has it open doesn't lose the change to a version that nobody made.
    expect(await found()).toEqual(before);
    const { stdout } = await runWarm(['audit', '--json'], { cwd: folder.path, env: WRITING_ENV });
    const told = JSON.parse(stdout).entries.filter(({ outcome }: { outcome: string }) => outcome.includes('errors-b2'));
    expect(told.map(({ actor }: { actor: string }) => actor)).toEqual(['operator', 'intake:prom']);
  });

  it('ends one whose start was corrected to an earlier time', async () => {
    // Alertmanager keeps the earliest start of those that two Prometheus servers report.
    expect(await did('prom', prom('b3', 'firing', -2))).toBe('declared');
    expect(await did('prom', prom('b3', 'firing', -3))).toBe('known');
    expect(await did('prom', prom('b3', 'resolved', -5, -4))).toBe('late');
    expect(await did('prom', prom('b3', 'resolved', -3, -1))).toBe('resolved');
    expect(await named('Errors b3')).toEqual(['resolved']);
  });

  it('takes all alerts of a large outage in one message, but not from strangers', async () => {
    const large = ['d1', 'd2'].map((key) => {
      const [alert] = prom(key, 'resolved', -2, -1).alerts;
      return { ...alert, generatorURL: `https://prometheus.example/?${'x'.repeat(100_000)}` };
    });
    expect(await did('prom', { alerts: large })).toBe('known known');
    const stranger = { authorization: 'Bearer intake-secret-0123456788' };
    expect((await send('prom', { alerts: large }, stranger)).status).toBe(413);
  });

  it('finds a component with spaces around its name', async () => {
    const answer = await send('prom', prom('c5', 'firing', -1, null, { component: ' website ' }));
    expect(answer.body.alerts).toEqual([{ key: 'c5', did: 'declared' }]);
    const told = (await incidents()).find(({ name }) => name === 'Errors c5');
    expect(told).toMatchObject({ components: [{ name: 'Website', status: 'major_outage' }] });
    expect(await did('prom', prom('c5', 'resolved', -1, 0))).toBe('resolved');
  });

  it('keeps an alert of a component that the page has not, and says so', async () => {
    const answer = await send('prom', prom('c1', 'firing', -1, null, { component: 'billing' }));
    expect(answer.body.alerts).toEqual([{ key: 'c1', did: 'declared', unknown_component: 'billing' }]);
    expect(await named('Errors c1')).toEqual(['investigating']);
    expect(pharos.stderr()).toContain('"component":"billing"');
    expect(await (await fetch(`${pharos.url}/acme/`)).text()).not.toContain('billing');
    // A component of another page is as unknown.
    const other = await send('prom', prom('c2', 'firing', -1, null, { component: 'vault' }));
    expect(other.body.alerts[0]).toMatchObject({ did: 'declared', unknown_component: 'vault' });
    const { components } = await (await fetch(`${pharos.url}/acme/api/v2/components.json`)).json();
    expect(components[0].status).toBe('operational');
  });

  it('keeps text that was cut within a character readable for every client of the API', async () => {
    // Strict readers of JSON refuse a whole list with half a surrogate pair in it.
    const [alert] = prom('c3', 'firing', -1).alerts;
    const annotations = { summary: 'Disk full \uD83D', description: 'Look at \uDD25 it' };
    expect(await did('prom', { alerts: [{ ...alert, annotations }] })).toBe('declared');
    const made = await callApi(pharos.url, 'POST', 'pages/acme/incidents', {
      body: { incident: { name: 'Cut \uD83D', body: 'Too' } },
    });
    expect(made.body.name).toBe('Cut \uFFFD');
    expect((await incidents()).find(({ name }) => name === 'Disk full \uFFFD')).toMatchObject({
      incident_updates: [{ body: 'Look at \uFFFD it' }],
    });
  });

  it('takes several alerts of a message, and all of them or none', async () => {
    const both = { alerts: [...prom('d1', 'firing', -1).alerts, ...prom('d2', 'firing', -1).alerts] };
    const broken = { alerts: [...both.alerts, { status: 'firing', labels: {} }] };
    const refused = await send('prom', broken);
    expect([refused.status, refused.body.issues]).toEqual([
      422,
      [{ path: 'alerts.2.fingerprint', message: 'is missing' }],
    ]);
    expect(await named('Errors d1')).toEqual([]);
    expect(await did('prom', both)).toBe('declared declared');
  });

  const signed = (body: string, secret = SECRET) => ({
    'x-pagerduty-signature': `v1=${'0'.repeat(64)},v1=${createHmac('sha256', secret).update(body).digest('hex')}`,
  });
  const page = async (payload: unknown) => did('pager', JSON.stringify(payload), signed(JSON.stringify(payload)));
  const websiteStatus = async () => {
    const { components } = await (await fetch(`${pharos.url}/acme/api/v2/components.json`)).json();
    return components[1].status;
  };

  it('takes what PagerDuty signs, and nothing that is signed otherwise', async () => {
    const fired = JSON.stringify(pagerdutyMessage('incident.triggered', { occurredAt: minutes(0), createdAt: AT }));
    for (const headers of [{}, signed(fired, 'wrong'), signed(`${fired} `)])
      expect((await send('pager', fired, headers)).status).toBe(401);
  });

  it('follows a PagerDuty incident that escalates, changes its priority, ends and is reopened', async () => {
    let second = -60;
    const event = (word: string, priority: string | null = 'P3') => {
      second += 1;
      const occurredAt = new Date(Date.now() + second * 1_000).toISOString();
      return pagerdutyMessage(`incident.${word}`, { occurredAt, createdAt: AT, priority });
    };
    expect(await page(event('triggered'))).toBe('declared');
    const acknowledged = event('acknowledged');
    for (const word of ['escalated', 'reassigned', 'delegated', 'unacknowledged'])
      expect(await page(event(word))).toBe('known');
    for (const word of ['annotated', 'responder.added', 'status_update_published'])
      expect(await page(pagerdutyOther(`incident.${word}`, minutes(0)))).toBe('');
    expect(await websiteStatus()).toBe('partial_outage');
    expect(await page(event('priority_updated', 'P1'))).toBe('changed');
    expect(await page(event('priority_updated', 'P1'))).toBe('known');
    expect(await websiteStatus()).toBe('major_outage');
    expect(await page(event('resolved', 'P1'))).toBe('resolved');
    expect(await page(event('priority_updated', 'P3'))).toBe('known');
    expect(await websiteStatus()).toBe('operational');
    // One that was on its way since before it was resolved.
    expect(await page(acknowledged)).toBe('late');
    expect(await named('Checkout fails')).toEqual(['resolved']);
    expect(await page(event('reopened', 'P1'))).toBe('declared');
    expect(await named('Checkout fails')).toEqual(['investigating', 'resolved']);
    expect(await websiteStatus()).toBe('major_outage');
    expect(await page(event('resolved', 'P1'))).toBe('resolved');
    expect(await named('Checkout fails')).toEqual(['resolved', 'resolved']);
  });

  it("answers a service's own test, tells operators of it, and publishes nothing", async () => {
    const before = await incidents();
    const ping = JSON.stringify(pagerdutyTest(minutes(0)));
    const answers = [
      await send('graf', grafanaTest(minutes(0)), { 'x-secret': SECRET }),
      await send('prom', alertmanagerMessage('firing', minutes(0), { alertname: 'Watchdog' })),
      await send('pager', ping, signed(ping)),
      await send('kuma', kumaTest),
    ];
    for (const { status, body } of answers)
      expect([status, body]).toEqual([200, { message: 'test received', alerts: [] }]);
    expect(await send('kuma', kumaCertificate)).toEqual({ status: 200, body: { alerts: [] } });
    expect(await incidents()).toEqual(before);
    const ops = await openOps();
    for (const id of ['graf', 'prom', 'pager', 'kuma'])
      expect(ops).toMatch(
        new RegExp(`intake:${id}</td>\\s*<td[^>]*>intake-test acme</td>(?:(?!</tr>).)*test received`, 's'),
      );
    expect((await send('kuma', kumaTest, { authorization: 'Bearer wrong' })).status).toBe(401);
  });

  async function openOps(): Promise<string> {
    const answer = await fetch(`${pharos.url}/-/ops/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ token: OPERATOR }),
      headers: { origin: pharos.url },
      redirect: 'manual',
    });
    const cookie = answer.headers.getSetCookie().map((line) => line.split(';')[0]);
    return (await fetch(`${pharos.url}/-/ops`, { headers: { cookie: cookie.join('; ') } })).text();
  }

  it('follows a monitor of Uptime Kuma down and up', async () => {
    const at = (second: number) => new Date(Date.now() + second * 1_000);
    expect(await did('kuma', kumaMessage(0, at(-50)))).toBe('declared');
    expect(await did('kuma', kumaMessage(2, at(-45)))).toBe('');
    expect(await did('kuma', kumaMessage(0, at(-40)))).toBe('known');
    expect(await websiteStatus()).toBe('major_outage');
    expect(await did('kuma', kumaMessage(1, at(-30)))).toBe('resolved');
    expect(await did('kuma', kumaMessage(0, at(-50)))).toBe('late');
    expect(await named('Website')).toEqual(['resolved']);
    expect(await (await fetch(`${pharos.url}/acme/`)).text()).not.toContain('10.9.8.7');
  });

  it('takes Opsgenie, Grafana with either of two secrets, and any JSON by its mapping', async () => {
    const createdAt = Date.now() - 60_000;
    const genie = (action: string, priority: string) => did('genie', opsgenieMessage(action, { createdAt, priority }));
    expect(await genie('Create', 'P3')).toBe('declared');
    expect(await genie('Acknowledge', 'P3')).toBe('');
    expect(await websiteStatus()).toBe('degraded_performance');
    expect(await genie('UpdatePriority', 'P1')).toBe('changed');
    expect(await websiteStatus()).toBe('major_outage');
    expect(await genie('Close', 'P1')).toBe('resolved');
    expect(await named('Disk is full')).toEqual(['resolved']);
    for (const secret of [SECRET, OLD_SECRET])
      expect(await did('graf', prom('g1', 'firing', -1), { 'x-secret': secret })).toMatch(/declared|known/);
    expect(await did('own', { id: 8, state: { word: 'down' }, what: 'A draft', where: 'Website' })).toBe('declared');
    expect(await named('A draft')).toEqual(['investigating']);
    expect(await (await fetch(`${pharos.url}/acme/`)).text()).not.toContain('A draft');
  });

  it('refuses strangers and what is no message, and tells them nothing', async () => {
    const body = prom('x1', 'firing', -1);
    const unknown = await send('nosuch', body);
    const wrong = await send('prom', body, { authorization: 'Bearer wrong' });
    const none = await send('graf', body);
    expect([unknown, wrong, none].map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(unknown.body).toEqual(wrong.body);
    expect((await send('prom', '{')).status).toBe(400);
    expect((await send('prom', { alerts: 7 })).status).toBe(422);
    expect((await send('prom', 'x'.repeat(1_000_000))).status).toBe(413);
    const bomb = prom('x2', 'firing', -1);
    const alerts = bomb.alerts.map((alert) => ({
      ...alert,
      annotations: { summary: 'Bomb\n\u0000', description: '>'.repeat(9_000) },
    }));
    expect(await did('prom', { alerts })).toBe('declared');
    expect(await named('Bomb')).toEqual(['investigating']);
    const { stdout } = await runWarm(['audit', '--json'], { cwd: folder.path, env: WRITING_ENV });
    expect(stdout).toContain('intake:prom');
    expect(stdout).not.toContain(SECRET);
  });
});

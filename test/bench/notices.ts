/**
 * What subscribers cost: publishing while ten thousand of them are sent mails, beside publishing with none, and how many
 * mails a second a local mail server is handed. Each through a server of its own, asked over HTTP.
 */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import { systemRandom } from '../../src/access/digest.ts';
import { parseEmailAddress } from '../../src/mail/mail.ts';
import { toPageKey } from '../../src/model/slugs.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { addSubscribers, createAddressSeal } from '../../src/notify/subscribers.ts';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { eventually, startPharos, temporaryFolder } from '../helpers/pharos.ts';
import { callApi, WRITING_ENV } from '../helpers/writing-site.ts';
import { judge, number, quantile, sizesFrom } from './budget.ts';

const [SUBSCRIBERS = 10_000] = sizesFrom('PHAROS_BENCH_SUBSCRIBERS', [10_000]);
const [CHANGES = 60] = sizesFrom('PHAROS_BENCH_CHANGES', [60]);
const WARM_UPS = 10;
const COMPONENTS = 50;
const KEY = 'a key of the benchmark, 32 characters or more';
/** More than what two measurements of one thing differ by. */
const SLOWER_MAX = 1.5;

interface Figures {
  /** From the request until the change is published and answered. */
  readonly publishedMs: readonly number[];
  readonly mails: number;
  readonly mailSeconds: number;
}

export async function run(): Promise<void> {
  const without = await measure(0);
  const withMany = await measure(SUBSCRIBERS);
  const p95 = ({ publishedMs }: Figures): number => quantile(publishedMs, 0.95);
  for (const [of, figures] of [
    ['without subscribers', without],
    [`while mails go out to ${number(SUBSCRIBERS)}`, withMany],
  ] as const) {
    judge({
      name: `a change by the API until published, ${of}, p50`,
      figure: quantile(figures.publishedMs, 0.5),
      unit: 'ms',
    });
    judge({ name: '  p95', figure: p95(figures), unit: 'ms' });
  }
  judge({ name: 'mails handed to a local server', figure: withMany.mails / withMany.mailSeconds, unit: '/s' });
  judge({
    name: 'p95 of publishing while mails go out, over without',
    figure: p95(withMany) / p95(without),
    unit: '×',
    atMost: SLOWER_MAX,
  });
}

async function measure(subscribers: number): Promise<Figures> {
  const folder = temporaryFolder();
  const times: number[] = [];
  const sink = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _session, done) => {
      stream.resume();
      stream.on('end', () => {
        times.push(performance.now());
        done();
      });
    },
  });
  sink.listen(0, '127.0.0.1');
  await once(sink.server, 'listening');
  const { port } = sink.server.address() as AddressInfo;
  writeFileSync(join(folder.path, 'pharos.yaml'), configText());
  const env = { ...WRITING_ENV, SMTP: `smtp://127.0.0.1:${port}?ignoreTLS=true`, KEY };
  let pharos = await startPharos(['start', '--port', '0'], { cwd: folder.path, env });
  try {
    await ready(pharos.url);
    await pharos.stop();
    await fill(join(folder.path, 'data', 'pharos.db'), subscribers);
    pharos = await startPharos(['start', '--port', '0'], { cwd: folder.path, env });
    await ready(pharos.url);
    const id = await declare(pharos.url);
    const publishedMs: number[] = [];
    for (let change = 0; change < WARM_UPS + CHANGES; change += 1) {
      const started = performance.now();
      const answer = await callApi(pharos.url, 'PATCH', `pages/acme/incidents/${id}`, {
        body: { incident: { body: `Update ${change}`, component_ids: ['c1'] } },
      });
      if (answer.status !== 200) throw new Error(`a change was answered with ${answer.status}`);
      if (change >= WARM_UPS) publishedMs.push(performance.now() - started);
      await new Promise((wait) => setTimeout(wait, 50));
    }
    const deadline = performance.now() + 600_000;
    while (times.length < subscribers && performance.now() < deadline)
      await new Promise((wait) => setTimeout(wait, 100));
    if (times.length < subscribers) throw new Error(`only ${times.length} mails came`);
    return {
      publishedMs,
      mails: subscribers,
      mailSeconds: ((times[subscribers - 1] ?? 0) - (times[0] ?? 0)) / 1_000,
    };
  } finally {
    await pharos.stop();
    await new Promise<void>((done) => sink.close(() => done()));
    folder.remove();
  }
}

function configText(): string {
  const components = Array.from(
    { length: COMPONENTS },
    (_one, index) => `{ id: c${index}, type: static, name: C${index} }`,
  );
  return `site: { url: "http://status.example.org", name: Example }
server: { trustedProxyHops: 1 }
schedule: "0 0 1 * *"
operators: { token: "\${PHAROS_TOKEN}" }
access: { smtp: "\${SMTP}", from: status@pharos.example, key: "\${KEY}" }
subscriptions: true
pages:
  - { slug: acme, title: Acme, components: [${components.join(', ')}] }
`;
}

async function ready(url: string): Promise<void> {
  const answer = await eventually(
    () => fetch(`${url}/-/ready`),
    ({ status }) => status === 200,
  );
  if (answer.status !== 200) throw new Error('the server is not ready');
}

async function fill(file: string, count: number): Promise<void> {
  const now = toEpochMs(Date.now());
  const { database } = openSqlite(file, now);
  const seal = createAddressSeal({ reveal: () => KEY }, systemRandom);
  const added = Array.from({ length: count }, (_one, index) => {
    const email = parseEmailAddress(`person${index}@mail.example`);
    if (email === null) throw new Error('no address');
    return { page: toPageKey('acme', 1), email, components: [], gate: '', isConfirmed: true };
  });
  await addSubscribers({ database, seal, random: systemRandom, now }, added);
  await database.close();
}

async function declare(url: string): Promise<string> {
  const made = await callApi(url, 'POST', 'pages/acme/incidents', {
    body: { incident: { name: 'Measured', component_ids: ['c1'], body: 'It begins.' } },
  });
  if (made.status !== 201) throw new Error(`the incident was answered with ${made.status}`);
  return String(made.body.id);
}

/**
 * What runs for one request to a page behind a password by somebody who is signed in; for a monitor whose state changes, from the
 * question to its upstream until the page is switched; and for an incident that an operator declares over the API, from the
 * request until the pages are published and answered.
 */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { compose } from '../../src/app/compose.ts';
import { createLog } from '../../src/app/log.ts';
import { listen } from '../../src/app/serving/listen.ts';
import { loadConfig } from '../../src/cli/common.ts';
import { temporaryFolder } from '../helpers/pharos.ts';
import { judgeTrace, repeatedTrace, startTracer } from './trace.ts';

const PASSWORD = 'correct horse battery';
const TOKEN = 'a-token-of-the-benchmark-0123456789';

export async function run(): Promise<void> {
  const folder = temporaryFolder();
  const upstream = await startUpstream();
  const file = join(folder.path, 'pharos.yaml');
  const config = {
    site: { url: 'http://127.0.0.1:4321', name: 'Example' },
    data: join(folder.path, 'data'),
    operators: { token: '${BENCH_TOKEN}' },
    upstreams: [{ id: 'watch', kind: 'gatus', url: upstream.url }],
    pages: [
      {
        slug: 'vault',
        title: 'Vault',
        access_type: 'password',
        password: '${BENCH_PASSWORD}',
        components: [{ type: 'static', id: 'api', name: 'API' }],
      },
      { slug: 'acme', title: 'Acme', components: [{ type: 'static', id: 'api', name: 'API' }] },
      { slug: 'shop', title: 'Shop', components: [{ type: 'monitor', monitor: 'watch/core_shop' }] },
    ],
  };
  writeFileSync(file, JSON.stringify(config));
  process.env['BENCH_PASSWORD'] = PASSWORD;
  process.env['BENCH_TOKEN'] = TOKEN;
  const loaded = loadConfig(file);
  if (loaded === null) throw new Error('no configuration');
  const tracer = await startTracer();
  const log = createLog({ isQuiet: true, secrets: new Set() });
  const pharos = await compose(loaded, { log, isPublishing: true, isLasting: true, printsMail: false });
  await pharos.publishing.engine.submit({ trigger: 'start' }).report;
  const door = await listen(pharos, { log, port: 0 });
  /** What follows a publish is no part of the next one. */
  const settle = async () => pharos.publishing.publisher?.settled();
  try {
    const vault = `${door.url}/vault/`;
    const signedIn = await ask(`${vault}login/`, {
      body: `password=${encodeURIComponent(PASSWORD)}`,
      headers: { origin: door.url, 'content-type': 'application/x-www-form-urlencoded' },
    });
    const cookie = [signedIn.headers['set-cookie'] ?? []]
      .flat()
      .map((one) => one.split(';', 1)[0])
      .join('; ');
    const gated = await repeatedTrace(tracer, () => expectStatus(200, ask(vault, { headers: { cookie } })));
    judgeTrace('a gated page', gated, { files: 30 });

    const change = async () => {
      upstream.turn();
      const { publish } = await pharos.publishing.engine.run({ trigger: 'hook', upstreams: ['watch'], isUrgent: true });
      const page = publish?.pages.find(({ slug }) => slug === 'shop');
      if (page?.kind !== 'published') throw new Error(`the page was ${page?.kind ?? 'not'} published`);
    };
    const changed = await repeatedTrace(tracer, change, settle);
    judgeTrace('a monitor changes, until the page is switched', changed, { files: 120, functions: 500 });

    const incident = { name: 'Errors', status: 'investigating', components: { api: 'major_outage' } };
    const declare = () =>
      expectStatus(
        201,
        ask(`${door.url}/-/v1/pages/acme/incidents`, {
          body: JSON.stringify({ incident }),
          headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        }),
      );
    judgeTrace('an incident declared', await repeatedTrace(tracer, declare, settle));
  } finally {
    tracer.close();
    await door.close();
    await pharos[Symbol.asyncDispose]();
    upstream.close();
    folder.remove();
  }
}

/** An upstream with one monitor, which is down after every second turn. */
async function startUpstream() {
  let success = true;
  const server = createServer((_, response) => {
    const results = [{ success, timestamp: new Date().toISOString(), duration: 1e6 }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify([{ key: 'core_shop', name: 'shop', group: 'core', results }]));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    turn: () => {
      success = !success;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function expectStatus(expected: number, asked: ReturnType<typeof ask>): Promise<void> {
  const { status } = await asked;
  if (status !== expected) throw new Error(`answered ${status}, not ${expected}`);
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

function ask(
  url: string,
  { body, headers }: { readonly body?: string; readonly headers: Readonly<Record<string, string>> },
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    request(url, { method: body === undefined ? 'GET' : 'POST', headers, agent: false }, (response) => {
      response.resume().once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
    })
      .once('error', reject)
      .end(body);
  });
}

/**
 * What runs for one request to a page behind a password by somebody who is signed in: files and functions of ours, as V8's
 * coverage counts them. `PHAROS_BENCH_TRACE=1` lists them.
 */

import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { compose } from '../../src/app/compose.ts';
import { createLog } from '../../src/app/log.ts';
import { listen } from '../../src/app/serving/listen.ts';
import { loadConfig } from '../../src/cli/commands/common.ts';
import { temporaryFolder } from '../helpers/pharos.ts';
import { judge } from './budget.ts';

const PASSWORD = 'correct horse battery';
/** design.md, budgets. */
const FILES_MAX = 30;
const SOURCES = new URL('../../src/', import.meta.url).href;

export async function run(): Promise<void> {
  const folder = temporaryFolder();
  const file = join(folder.path, 'pharos.yaml');
  const config = {
    site: { url: 'http://127.0.0.1:4321', name: 'Example' },
    data: join(folder.path, 'data'),
    pages: [
      {
        slug: 'vault',
        title: 'Vault',
        access_type: 'password',
        password: '${BENCH_PASSWORD}',
        components: [{ type: 'static', name: 'API' }],
      },
    ],
  };
  writeFileSync(file, JSON.stringify(config));
  process.env['BENCH_PASSWORD'] = PASSWORD;
  const loaded = loadConfig(file);
  if (loaded === null) throw new Error('no configuration');
  const log = createLog({ isQuiet: true, secrets: new Set() });
  const pharos = await compose(loaded, { log, isPublishing: true, isLasting: true, printsMail: false });
  await pharos.publishing.engine.submit({ trigger: 'start' }).report;
  const door = await listen(pharos, { log, port: 0 });
  const url = `${door.url}/vault/`;
  const signedIn = await ask(`${url}login/`, `password=${encodeURIComponent(PASSWORD)}`, { origin: door.url });
  const cookie = [signedIn.headers['set-cookie'] ?? []]
    .flat()
    .map((one) => one.split(';', 1)[0])
    .join('; ');
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  const visit = async (): Promise<Map<string, string[]>> => {
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    const { status } = await ask(url, null, { cookie });
    if (status !== 200) throw new Error(`the page was answered ${status}`);
    const { result } = await session.post('Profiler.takePreciseCoverage');
    await session.post('Profiler.stopPreciseCoverage');
    const files = new Map<string, string[]>();
    for (const { url: source, functions } of result) {
      if (!source.startsWith(SOURCES)) continue;
      const ran = functions
        .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
        .map(({ functionName, ranges }) => `${functionName || '(anonymous)'} × ${ranges[0]?.count}`);
      if (ran.length > 0) files.set(source.slice(SOURCES.length), ran);
    }
    return files;
  };
  try {
    // What runs beside a request, four times a second, is in some of these. The first warms up.
    await visit();
    const visits = await Array.fromAsync({ length: 9 }, visit);
    const [least = new Map<string, string[]>()] = visits.toSorted((a, b) => a.size - b.size);
    const functions = [...least.values()].reduce((sum, ran) => sum + ran.length, 0);
    judge({ name: 'a gated page, files run', figure: least.size, unit: 'files', atMost: FILES_MAX });
    judge({ name: 'a gated page, functions run', figure: functions, unit: 'functions' });
    if (process.env['PHAROS_BENCH_TRACE'] === '1')
      for (const [source, ran] of least) console.log(`  ${source}: ${ran.join(', ')}`);
  } finally {
    session.disconnect();
    await door.close();
    await pharos[Symbol.asyncDispose]();
    folder.remove();
  }
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

function ask(url: string, form: string | null, headers: Readonly<Record<string, string>>): Promise<Answered> {
  const type = form === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  return new Promise((resolve, reject) => {
    request(
      url,
      { method: form === null ? 'GET' : 'POST', headers: { ...headers, ...type }, agent: false },
      (response) => {
        response.resume().once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
      },
    )
      .once('error', reject)
      .end(form ?? undefined);
  });
}

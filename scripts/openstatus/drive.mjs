/** Uses the interface of a running openstatus, lets Pharos look at it after each step, and writes the fixtures. */

import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const SERVER = 'http://127.0.0.1:3900';
const RECORDER_PORT = 3901;
const ROOT = join(import.meta.dirname, '../..');
const FIXTURES = join(ROOT, 'test/fixtures/openstatus');
const { WORK, CLOCK, CLOCK_LIBRARY } = process.env;

let clock = Date.parse('2026-11-21T08:00:00Z');
const keys = {};

/** Lets minutes pass, for the server and for Pharos. */
export function later(minutes) {
  clock += minutes * 60_000;
  writeFileSync(CLOCK, `@${new Date(clock).toISOString().slice(0, 19).replace('T', ' ')}`);
}

/** The instant in so many minutes, as the interface takes it. */
export function at(minutes = 0) {
  return new Date(clock + minutes * 60_000).toISOString();
}

export async function sql(text) {
  const answer = await fetch(`${SERVER}/__sql`, { method: 'POST', body: text });
  if (!answer.ok) throw new Error(`${text}: ${await answer.text()}`);
  return answer.json();
}

/** A key of a scope, `read` or `write`, remembered under that name. */
export async function makeKey(scope, id) {
  const { token, prefix, hash } = await (await fetch(`${SERVER}/__key`)).json();
  const columns = 'id, name, prefix, hashed_token, workspace_id, created_by_id, scopes';
  await sql(
    `insert into api_key (${columns}) values (${id}, '${scope}', '${prefix}', '${hash}', 1, 1, '["${scope}"]')`,
  );
  keys[scope] = token;
}

/** One operation of a service: `call('StatusPage', 'CreateStatusPage', {…})`. */
export async function call(service, operation, body) {
  const domain = service.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
  const answer = await fetch(`${SERVER}/rpc/openstatus.${domain}.v1.${service}Service/${operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-openstatus-key': keys.write },
    body: JSON.stringify(body),
  });
  const payload = await answer.json();
  if (!answer.ok) throw new Error(`${operation}: ${answer.status} ${JSON.stringify(payload)}`);
  return payload;
}

let exchanges = [];

/** Stands between Pharos and the server, and keeps what is said. */
const recorder = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const { host, connection, 'content-length': _, ...headers } = request.headers;
  const { method, url: path } = request;
  const answer = await fetch(SERVER + path, { method, headers, body: body.length > 0 ? body : undefined });
  const text = await answer.text();
  const type = answer.headers.get('content-type') ?? '';
  exchanges.push({ method, path, body: body.toString(), status: answer.status, type, text });
  response.writeHead(answer.status, { 'content-type': type, date: answer.headers.get('date') });
  response.end(text);
});

/** Runs a command of Pharos by the same clock; resolves with its exit status and what it printed. */
export function pharos(...args) {
  const program = [join(ROOT, 'bin/pharos.js'), ...args, '--config', join(WORK, 'pharos.yaml')];
  const faketime = { FAKETIME_TIMESTAMP_FILE: CLOCK, FAKETIME_DONT_FAKE_MONOTONIC: '1', FAKETIME_NO_CACHE: '1' };
  const env = { ...process.env, LD_PRELOAD: CLOCK_LIBRARY, ...faketime, OPENSTATUS_KEY: keys.read };
  return new Promise((resolve) => {
    execFile(process.execPath, program, { env, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve({ status: error?.code ?? 0, text: stdout + stderr }),
    );
  });
}

/** What its own page shows, as the test reads it. */
async function shownOn(slug) {
  const page = await (await fetch(`${SERVER}/__page?slug=${slug}`)).json();
  if (page === null) return null;
  const rowOf = ({ name, status }) => [name, status];
  return {
    title: page.title,
    access: page.accessType,
    locale: page.defaultLocale,
    allowIndex: page.allowIndex,
    barType: page.configuration?.type ?? 'absolute',
    showUptime: page.configuration?.uptime ?? true,
    status: page.status,
    rows: page.trackers.flatMap((tracker) =>
      tracker.type === 'component'
        ? [rowOf(tracker.component)]
        : [[`# ${tracker.groupName}`, tracker.status, tracker.defaultOpen], ...tracker.components.map(rowOf)],
    ),
    open: page.openEvents
      .filter(({ type }) => type !== 'incident')
      .map(({ type, name, status }) => [type, name, status]),
    reports: page.statusReports.map(({ title, status, statusReportUpdates }) => [
      title,
      status,
      ...statusReportUpdates
        .toSorted((a, b) => Date.parse(a.date) - Date.parse(b.date) || a.id - b.id)
        .map(({ message }) => message),
    ]),
    maintenances: page.maintenances.map(({ title, from, to, message }) => [
      title,
      new Date(from).toISOString(),
      new Date(to).toISOString(),
      message,
    ]),
  };
}

const known = new Map();
let stepsTotal = 0;
let last = null;

/** Writes the answers of a step that differ from those before it, and what its pages showed. */
function writeStep({ name, said, shown }) {
  const parts = said.flatMap(({ method, path, body, status, type, text }) => {
    const asked = `${method} ${path} ${body}`;
    if (known.get(asked) === status + text) return [];
    known.set(asked, status + text);
    const head = body === '' ? '\n' : `content-type: application/json\n\n${body}\n`;
    return [`REQUEST key=read\n${method} ${path}\n${head}RESPONSE\nHTTP ${status}\ncontent-type: ${type}\n\n${text}\n`];
  });
  const pages = Object.entries(shown.pages).map(([slug, page]) => `${slug} ${JSON.stringify(page)}`);
  const number = String(stepsTotal).padStart(2, '0');
  const file = `${number}-${name.toLowerCase().replace(/[^a-z]+/g, '-')}.txt`;
  writeFileSync(join(FIXTURES, file), `${parts.join('')}SHOWN ${shown.at}\n${pages.join('\n')}\n`);
}

/** One step: something changes, its page is looked at, Pharos makes a pass. What is asked until the next step is kept with it. */
export async function step(name, slugs, change = async () => undefined) {
  await change();
  finish();
  stepsTotal += 1;
  exchanges = [];
  const pages = {};
  for (const slug of slugs) pages[slug] = await shownOn(slug);
  last = { name, said: exchanges, shown: { at: at(), pages } };
  const { status, text } = await pharos('build', '--quiet', '--out', join(WORK, 'out'));
  console.log(
    `${stepsTotal} ${name}: ${exchanges.length} requests${status === 0 ? '' : `, pharos ended with ${status}: ${text}`}`,
  );
}

function finish() {
  if (last !== null) writeStep(last);
  last = null;
}

export async function begin() {
  rmSync(FIXTURES, { recursive: true, force: true });
  mkdirSync(FIXTURES, { recursive: true });
  const upstream = `{ id: os, kind: uptime-service, preset: openstatus, rpcUrl: "http://127.0.0.1:${RECORDER_PORT}/rpc", apiKey: "\${OPENSTATUS_KEY}" }`;
  const config = [
    'site: { url: "http://127.0.0.1:4999", name: Test }',
    `data: ${join(WORK, 'pharos')}`,
    'upstreams:',
    `  - ${upstream}`,
  ];
  writeFileSync(join(WORK, 'pharos.yaml'), `${config.join('\n')}\n`);
  await new Promise((resolve) => recorder.listen(RECORDER_PORT, '127.0.0.1', resolve));
}

export function end() {
  finish();
  recorder.close();
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isStatusError } from '../../src/errors.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, toEpochMs } from '../../src/model/time.ts';
import { createStore, type Store } from '../../src/store/create-store.ts';
import { NO_LIMITS } from '../../src/sync/connector.ts';
import { CONNECTORS, connectorOf } from '../../src/sync/connectors/index.ts';
import { createHttp } from '../../src/sync/http/http.ts';
import { shapeError } from '../../src/sync/http/http-faults.ts';
import { parseJson } from '../../src/sync/http/json.ts';
import { runPass } from '../../src/sync/pass/pass.ts';
import { judge } from '../../src/sync/pass/snapshot.ts';
import { bindUpstream, type Upstream } from '../../src/sync/upstream.ts';
import { contextOf, drive, NOW, type Respond } from '../helpers/drive.ts';
import { openEmptySqlite } from '../helpers/empty-sqlite.ts';
import { createRandom, pick, type Random, spoilBytes, spoilValue } from '../helpers/mutate.ts';
import { reply, startRawServer } from '../helpers/raw-server.ts';
import { keyOf, loadCases, respondWith, type UpstreamCase } from '../helpers/upstream-cases.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
const BODIES = Math.round(4_000 * SCALE);
const PASSES = Math.round(150 * SCALE);
const RSS_MAX = 512 * 1024 * 1024;
const cases = loadCases();

/** An answer as the reader of files or of JSON would hand it over after somebody spoiled it. */
function spoil(answer: unknown, random: Random): unknown {
  const isValue = random() < 0.7;
  if (!isValue && Array.isArray(answer) && answer.every((file) => typeof file?.text === 'string')) {
    const spoiled = pick(random, answer) as { name: string; text: string };
    const text = new TextDecoder().decode(spoilBytes(spoiled.text, random)).toWellFormed();
    return answer.map((file) => (file === spoiled ? { ...spoiled, text } : file));
  }
  const text = JSON.stringify(isValue ? spoilValue(answer, random) : answer);
  const parsed = parseJson(isValue ? Buffer.from(text) : spoilBytes(text, random));
  return parsed.isValid ? parsed.value : shapeError('GET spoiled', parsed.reason);
}

it('every registered connector has a case to be spoiled', () => {
  expect(new Set(cases.map(({ kind }) => kind))).toEqual(new Set(CONNECTORS.map(({ kind }) => kind)));
});

it(`${BODIES} spoiled bodies through the connectors: each is learned from or refused by one of our errors`, async () => {
  const random = createRandom(20_261_121);
  const questionsOf = new Map<UpstreamCase, number>();
  const outcomes = new Map<string, number>();
  for (let body = 0; body < BODIES; body += 1) {
    const one = cases[body % cases.length] as UpstreamCase;
    const connector = connectorOf(one.kind);
    const options = connector.optionsSchema.parse(one.options);
    const usual = respondWith(one.answers);
    const known = questionsOf.get(one) ?? (await drive(connector.pull(options, contextOf()), usual)).questions.length;
    questionsOf.set(one, known);
    const target = Math.floor(random() * known);
    let spoiled: unknown;
    const respond: Respond = (question, index) => {
      const answer = usual(question, index);
      if (index !== target || isStatusError(answer)) return answer;
      spoiled = spoil(answer, random);
      return spoiled;
    };
    try {
      const { result } = await drive(connector.pull(options, contextOf()), respond);
      const verdict = judge(result, { monitors: new Map(), pages: [], held: null }, { at: NOW, intervalMs: 60_000 });
      outcomes.set(verdict.kind, (outcomes.get(verdict.kind) ?? 0) + 1);
    } catch (error) {
      if (!isStatusError(error)) {
        const where = `body ${body} of ${one.kind}/${one.name}, question ${target}`;
        throw new Error(`${where}: ${String(error)}\n${JSON.stringify(spoiled)?.slice(0, 2_000)}`, { cause: error });
      }
      outcomes.set(error.code, (outcomes.get(error.code) ?? 0) + 1);
    }
  }
  expect(Object.prototype).toEqual({});
  expect(Object.keys(Object.prototype)).toEqual([]);
  // The spoiling is neither so mild nor so coarse that only one thing ever happens.
  expect(outcomes.get('taken')).toBeGreaterThan(BODIES / 20);
  expect(outcomes.get('UPSTREAM_SHAPE')).toBeGreaterThan(BODIES / 20);
  expect(process.memoryUsage.rss()).toBeLessThan(RSS_MAX);
});

/** Everything a visitor's page is made of. */
async function remembered(store: Store, upstreamId: string): Promise<string> {
  const monitors = await store.monitors(upstreamId);
  const ids = [...monitors.keys()];
  return JSON.stringify([
    [...monitors.values()],
    [...(await store.pasts(ids, toEpochMs(0)))],
    await store.incidents(toEpochMs(0)),
    await store.maintenances(toEpochMs(0)),
    (await store.upstreams()).get(upstreamId) ?? null,
  ]);
}

it(`${PASSES} spoiled bodies over a real network into a real store: the last good snapshot stays, or a sound one takes its place`, async () => {
  const random = createRandom(4_711);
  const folder = mkdtempSync(join(tmpdir(), 'pharos-fuzz-'));
  const store = createStore(openEmptySqlite(join(folder, 'pharos.db'), 0).database);
  const http = createHttp();
  let one = cases[0] as UpstreamCase;
  let target = -1;
  const server = await startRawServer((socket, { method, path, body, index }) => {
    const asked = { method, url: `http://host${path}`, body: body === '' ? undefined : JSON.parse(body) };
    const key = keyOf(asked as never, one.answers);
    const text = key === null ? '{}' : JSON.stringify(one.answers[key]);
    const isSpoiled = index === target && key !== null;
    const bytes = !isSpoiled
      ? text
      : random() < 0.5
        ? JSON.stringify(spoilValue(one.answers[key], random))
        : spoilBytes(text, random);
    socket.write(reply(bytes, { status: key === null ? 404 : 200 }));
  });
  const online = cases.filter(({ answers }) => !Object.keys(answers).some((key) => key.startsWith('FILE')));
  let clockMs = NOW as number;
  const deps = {
    store,
    http,
    now: () => toEpochMs(clockMs),
    random: () => 0,
    sleep: async (ms: number) => {
      clockMs += ms;
    },
  };
  const passOver = async (upstream: Upstream) => {
    clockMs += MINUTE_MS;
    return (await runPass([upstream], deps, { isManual: true })).upstreams[0];
  };
  let kept = 0;
  let taken = 0;
  try {
    for (let turn = 0; turn < PASSES; turn += 1) {
      one = online[turn % online.length] as UpstreamCase;
      const connector = connectorOf(one.kind);
      const here = JSON.stringify(one.options).replaceAll(/https:\/\/[a-z.]+/g, server.origin);
      const upstream = bindUpstream(connector, {
        id: one.kind,
        options: connector.optionsSchema.parse(JSON.parse(here)),
        limits: NO_LIMITS,
        intervalMs: HOUR_MS,
      });
      target = -1;
      let good = await passOver(upstream);
      // An answer that was taken in the turn before may have other monitors; this one is then held for an interval.
      if (good?.kind !== 'ok') {
        clockMs += HOUR_MS;
        good = await passOver(upstream);
      }
      expect(good).toMatchObject({ kind: 'ok' });
      const before = await remembered(store, one.kind);
      target = server.requests.length + Math.floor(random() * (good?.requestsUsed ?? 1));
      const report = await passOver(upstream);
      const after = await remembered(store, one.kind);
      if (report?.kind === 'ok') taken += 1;
      else {
        kept += 1;
        // A page whose access is in doubt is closed all the same.
        const held = (text: string): string =>
          text
            .replace(/"heldHash":("[\w ]+"|null)/, '')
            .replaceAll(/"access":"[\w-]+","emailDomains":\[[^\]]*\],"published":\w+/g, '');
        expect(held(after)).toBe(held(before));
        expect(report?.kind === 'failed' && report.message.includes('report this')).toBe(false);
      }
      clockMs += DAY_MS / 100;
    }
  } finally {
    await http.close();
    await server.close();
    await store.close();
    rmSync(folder, { recursive: true });
  }
  expect(kept).toBeGreaterThan(PASSES / 10);
  expect(taken).toBeGreaterThan(PASSES / 10);
  expect(process.memoryUsage.rss()).toBeLessThan(RSS_MAX);
});

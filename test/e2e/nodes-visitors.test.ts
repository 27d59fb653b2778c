import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNode, isReady, type Node } from '../helpers/nodes.ts';
import { eventually, temporaryFolder } from '../helpers/pharos.ts';
import { postgresPrograms, type RealPostgres, startRealPostgres } from '../helpers/real-postgres.ts';

const PROGRAMS = postgresPrograms();
const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
/** Five thousand at ten times the scale. */
const REQUESTS = Math.round(500 * Math.max(0.5, SCALE));
/** As `catch-up.ts` has it. */
const GIVES_UP_MS = 5_000;
/** In which the page, which changes each second, is seen to have changed. */
const PATIENCE_MS = 20_000;
const PATHS = ['/acme/', '/acme/api/v2/summary.json', '/acme/feed.json', '/acme/history/'];

/** The in-process one has one session, and tells nobody of anything. */
describe.skipIf(PROGRAMS === null)(
  'a visitor behind a balancer that asks three nodes in turns (skipped where initdb and postgres are not found)',
  () => {
    const folder = temporaryFolder();
    const posts = join(folder.path, 'posts');
    const nodes: Node[] = [];
    let server: RealPostgres;
    let change = 1_000;

    /** The number stands in the title of an incident, and only grows. */
    function post(): void {
      change += 1;
      const text = `---\ntype: incident\ntitle: Change ${change}.\nstarted: 2026-11-20T10:00:00Z\npages: [acme]\n---\n\nNews.\n`;
      writeFileSync(join(folder.path, 'next'), text);
      renameSync(join(folder.path, 'next'), join(posts, 'one.md'));
    }

    beforeAll(async () => {
      mkdirSync(posts);
      post();
      server = await startRealPostgres(PROGRAMS ?? '');
      const config = `site: { url: "http://127.0.0.1:4321" }
store: { url: "\${DATABASE_URL}" }
schedule: "* * * * * *"
upstreams: [{ id: posts, kind: markdown, path: ${posts} }]
pages: [{ slug: acme, title: Acme, components: [{ type: static, name: Desk }] }]
`;
      const database = await server.database();
      for (const name of ['a', 'b', 'c'])
        nodes.push(await createNode({ folder: folder.path, config, env: {}, database, name, isWarm: true }));
      await Promise.all(nodes.map((node) => node.start()));
      expect(await Promise.all(nodes.map((node) => isReady(node)))).toEqual([true, true, true]);
      await Promise.all(
        nodes.map((node) =>
          eventually(
            () => numberAt(node, '/acme/', {}),
            ({ number }) => number > 0,
          ),
        ),
      );
    });

    afterAll(async () => {
      await Promise.all(nodes.map((node) => node?.close()));
      await server?.stop();
      folder.remove();
    });

    async function numberAt(node: Node, path: string, headers: Record<string, string>) {
      const answer = await fetch(`${node.url()}${path}`, { headers });
      const text = await answer.text();
      const numbers = [...text.matchAll(/Change (\d+)\./g)].map(([, number]) => Number(number));
      return { status: answer.status, etag: answer.headers.get('etag'), number: Math.max(0, ...numbers) };
    }

    /** Asks in turns while the page changes each second. @returns how often it was shown less than it had seen */
    async function goAround(
      requests: number,
      headersOf: (path: string, etag: string | null) => Record<string, string>,
    ) {
      const known = new Map<string, { etag: string | null; number: number }>();
      const numbers = new Set<number>();
      const slow: number[] = [];
      let [seen, back] = [0, 0];
      // A fast machine has asked all of them before the page has changed.
      const patience = performance.now() + PATIENCE_MS;
      const isDone = (asked: number): boolean =>
        asked >= requests && (numbers.size > 1 || performance.now() > patience);
      for (let index = 0; !isDone(index); index += 1) {
        const node = nodes[index % nodes.length] as Node;
        const path = PATHS[Math.floor(index / 2) % PATHS.length] as string;
        const began = performance.now();
        const answer = await numberAt(node, path, headersOf(path, known.get(path)?.etag ?? null));
        slow.push(performance.now() - began);
        // What is known already is shown again.
        const number = answer.status === 304 ? (known.get(path)?.number ?? 0) : answer.number;
        if (answer.status === 200) known.set(path, answer);
        expect([200, 304]).toContain(answer.status);
        if (number < seen) back += 1;
        seen = Math.max(seen, number);
        numbers.add(number);
        await wait(2);
      }
      const sorted = slow.toSorted((a, b) => a - b);
      const at = (part: number): number => Math.round((sorted[Math.floor(part * (sorted.length - 1))] ?? 0) * 10) / 10;
      const result = { requests, changes: numbers.size, back, p50: at(0.5), p99: at(0.99), max: at(1) };
      if (SCALE > 1) console.log(JSON.stringify(result));
      return result;
    }

    const browser = (_: string, etag: string | null): Record<string, string> => ({
      'sec-fetch-site': 'same-origin',
      ...(etag === null ? {} : { 'if-none-match': etag }),
    });

    it(`never goes back in ${REQUESTS} requests, as a browser and as a program that asks for what is current`, async () => {
      const timer = setInterval(post, 1_000);
      try {
        const results = {
          browser: await goAround(REQUESTS, browser),
          program: await goAround(REQUESTS, () => ({ 'cache-control': 'no-cache' })),
          // Nothing says that it was here before.
          stranger: SCALE > 1 ? await goAround(REQUESTS, () => ({})) : null,
        };
        // A machine so slow that a node gives up waiting for its own publish proves nothing; `catch-up.test.ts` has that case.
        const proofs = [results.browser, results.program].filter(({ max }) => max < GIVES_UP_MS);
        expect(proofs.map(({ back }) => back)).toEqual(proofs.map(() => 0));
        expect(Math.min(results.browser.changes, results.program.changes)).toBeGreaterThan(1);
      } finally {
        clearInterval(timer);
      }
    }, 1_800_000);

    it('is answered at once by a node that lost the database, with what that has', async () => {
      const [node] = nodes as [Node];
      node.way?.cut();
      const first = await numberAt(node, '/acme/', { 'cache-control': 'no-cache' });
      expect([first.status, first.number > 0]).toEqual([200, true]);
      node.way?.heal();
      post();
      const there = change;
      const [, other] = nodes as [Node, Node];
      await eventually(
        () => numberAt(other, '/acme/', {}),
        ({ number }) => number >= there,
      );
      const healed = await eventually(
        () => numberAt(node, '/acme/', { 'cache-control': 'no-cache' }),
        ({ number }) => number >= there,
      );
      expect(healed.status).toBe(200);
    });
  },
);

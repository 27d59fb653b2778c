import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/store/sqlite/sqlite.ts';
import { eventually, temporaryFolder } from '../helpers/pharos.ts';
import { callApi, startWritingSite } from '../helpers/writing-site.ts';

const KILLS = Math.max(2, Math.round(3 * Number(process.env['PHAROS_TEST_SCALE'] ?? 1)));
const WRITERS = 4;

describe('a server that is killed while operators write', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());

  it('has each write whole or not at all, and every one that it answered', async () => {
    const answered = new Set<string>();
    let count = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const pharos = await startWritingSite(folder.path);
      let isKilled = false;
      const write = async (): Promise<void> => {
        while (!isKilled) {
          count += 1;
          const key = `write-${count}`;
          const answer = await callApi(pharos.url, 'POST', 'pages/acme/incidents', {
            body: { incident: { name: key, components: { api: 'degraded_performance' } } },
            headers: { 'idempotency-key': key },
          }).catch(() => null);
          if (answer?.status === 201) answered.add(key);
        }
      };
      const writers = Array.from({ length: WRITERS }, write);
      const before = answered.size;
      await eventually(
        async () => answered.size,
        (size) => size > before,
      );
      await new Promise((wait) => setTimeout(wait, 13 * kill));
      isKilled = true;
      pharos.kill();
      await Promise.all(writers);
      expect(await halves()).toEqual([]);
    }
    expect(answered.size).toBeGreaterThanOrEqual(KILLS);

    const pharos = await startWritingSite(folder.path);
    const names = async (): Promise<string[]> => {
      const { incidents } = await (await fetch(`${pharos.url}/acme/api/v2/incidents/unresolved.json`)).json();
      return incidents.map(({ name }: { name: string }) => name);
    };
    const written = (await titles()).toSorted();
    // What the last one stored and had no time to publish is published after the next start.
    expect(await eventually(names, (found) => found.length === written.length).then((all) => all.toSorted())).toEqual(
      written,
    );
    expect(new Set(written)).toEqual(answered.union(new Set(written)));
    // Sent again, a write that was answered is the same one.
    const [again = ''] = answered;
    const replayed = await callApi(pharos.url, 'POST', 'pages/acme/incidents', {
      body: { incident: { name: again, components: { api: 'degraded_performance' } } },
      headers: { 'idempotency-key': again },
    });
    expect(replayed.status).toBe(201);
    expect((await titles()).toSorted()).toEqual(written);
    await pharos.stop();
  });

  async function rows(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { database } = openSqlite(join(folder.path, 'data', 'pharos.db'), 0);
    try {
      return await database.all(sql);
    } finally {
      await database.close();
    }
  }

  const titles = async (): Promise<string[]> =>
    (await rows('SELECT document FROM written')).map(({ document }) => JSON.parse(String(document)).post.title);

  /** Posts, requests and entries of the audit that miss one of the others. */
  function halves() {
    return rows(
      `SELECT id FROM written WHERE id NOT IN (SELECT post FROM written_request)
         OR id NOT IN (SELECT outcome FROM audit WHERE action = 'incident-new')
       UNION ALL SELECT post FROM written_request WHERE post NOT IN (SELECT id FROM written)
       UNION ALL SELECT outcome FROM audit WHERE action = 'incident-new' AND outcome NOT IN (SELECT id FROM written)`,
    );
  }
});

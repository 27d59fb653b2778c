/** A changed configuration is read while visitors are answered: none of them notices. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../helpers/pharos.ts';
import { type SubscribingSite, startSubscribingSite } from '../helpers/subscribing-site.ts';

let site: SubscribingSite;
beforeAll(async () => {
  site = await startSubscribingSite();
});
afterAll(() => site?.close());

it('answers every form while the configuration is read again and again', async () => {
  const file = join(site.folder, 'pharos.yaml');
  const answers = new Map<string, number>();
  let isOver = false;
  const visit = async (visitor: number): Promise<void> => {
    for (let turn = 0; !isOver; turn += 1) {
      // The operators' sign-in page is rendered for every request, the form when something of it changed.
      const path = (visitor + turn) % 4 === 0 ? '/acme/subscribe/' : '/-/ops';
      const { status } = await site.get(path);
      answers.set(`${status} ${path}`, (answers.get(`${status} ${path}`) ?? 0) + 1);
    }
  };
  const visitors = Array.from({ length: 8 }, (_, visitor) => visit(visitor));
  for (const title of ['First', 'Second', 'Third', 'Fourth']) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/title: .*/, `title: ${title}`));
    process.kill(site.pharos().pid, 'SIGHUP');
    const form = await eventually(
      () => site.get('/acme/subscribe/'),
      ({ body }) => body.includes(title),
    );
    expect(form.body).toContain(title);
    const page = await eventually(
      () => site.get('/acme/'),
      ({ body }) => body.includes(title),
    );
    expect(page.body).toContain(title);
  }
  isOver = true;
  await Promise.all(visitors);
  expect([...answers.keys()].toSorted()).toEqual(['200 /acme/subscribe/', '401 /-/ops']);
  expect([...answers.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(50);
  expect(site.pharos().stderr()).not.toMatch(/"level":50/);
});

it('says in the log, once, what a changed configuration names and nothing has', async () => {
  const file = join(site.folder, 'pharos.yaml');
  const said = () => site.pharos().stderr().split('site.home: There is no page acmee. Did you mean acme?').length - 1;
  writeFileSync(file, readFileSync(file, 'utf8').replace('name: Example', 'name: Example, home: acmee'));
  process.kill(site.pharos().pid, 'SIGHUP');
  await eventually(
    async () => said(),
    (times) => times === 1,
  );
  // It is looked for again, as after every reload.
  writeFileSync(file, readFileSync(file, 'utf8').replace(/title: .*/, 'title: Fifth'));
  process.kill(site.pharos().pid, 'SIGHUP');
  await eventually(
    () => site.get('/acme/'),
    ({ body }) => body.includes('Fifth'),
  );
  expect(said()).toBe(1);
});

/**
 * Three nodes over one Postgres server, on this machine: the time between the first node that shows a change of an upstream and the
 * last one. Where there is no `initdb` and `postgres` it says so, and measures nothing.
 *
 * `PHAROS_BENCH_CHANGES=10` chooses fewer changes.
 */

import { compilePages } from '../../src/publish/draw/compile-pages.ts';
import { configOverPostgres, createNode, isReady, type Node, saysDown, shownAt } from '../helpers/nodes.ts';
import { temporaryFolder } from '../helpers/pharos.ts';
import { postgresPrograms, startRealPostgres } from '../helpers/real-postgres.ts';
import { startUnlimitedSandbox } from '../helpers/sandbox.ts';
import { judge, quantile, sizesFrom } from './budget.ts';

const [CHANGES = 40] = sizesFrom('PHAROS_BENCH_CHANGES', [40]);
/** Not counted: what is compiled and drawn for the first time. */
const WARM_UPS = 2;
const EVERY_SECONDS = 2;
/** design.md, budgets. */
const SPREAD_MS_MAX = 300;

export async function run(): Promise<void> {
  const programs = postgresPrograms();
  if (programs === null) return console.log('initdb and postgres are not installed, so nothing is measured');
  await compilePages();
  const folder = temporaryFolder();
  const server = await startRealPostgres(programs);
  const sandbox = await startUnlimitedSandbox();
  const nodes: Node[] = [];
  try {
    const config = configOverPostgres(sandbox, { everySeconds: EVERY_SECONDS, isSmall: false });
    const common = { folder: folder.path, config, env: sandbox.environment(), database: await server.database() };
    for (const name of ['a', 'b', 'c']) nodes.push(await createNode({ ...common, name }));
    await Promise.all(nodes.map((node) => node.start()));
    for (const node of nodes) if (!(await isReady(node, '/-/fresh'))) throw new Error(`${node.name} is not ready`);
    const spreads: number[] = [];
    for (let change = 0; change < WARM_UPS + CHANGES; change += 1) {
      const isDown = change % 2 === 0;
      sandbox.world.force('website', isDown ? 'down' : null);
      const times = await shownAt(nodes, '/acme/api/v2/summary.json', (text) => saysDown(text) === isDown, 20_000, 5);
      if (change >= WARM_UPS) spreads.push(Math.max(...times) - Math.min(...times));
    }
    tell(spreads);
  } finally {
    await Promise.all(nodes.map((node) => node.close()));
    await sandbox.stop();
    await server.stop();
    folder.remove();
  }
}

/** From the first node to the last: half of the changes, 99 % of them, and all. */
function tell(spreads: readonly number[]): void {
  console.log(`between the first and the last of three nodes that show a change, ${spreads.length} changes`);
  judge({ name: 'p50', figure: quantile(spreads, 0.5), unit: 'ms' });
  judge({ name: 'p99', figure: quantile(spreads, 0.99), unit: 'ms', atMost: SPREAD_MS_MAX });
  judge({ name: 'max', figure: Math.max(...spreads), unit: 'ms' });
}

/** All benchmarks, with the paths whose speed or size each of them measures: their figures are old once these have changed much. */

interface Bench {
  readonly measures: readonly string[];
  /** It takes many minutes. */
  readonly isOnlyWhenNamed?: boolean;
}

const PUBLISHING = ['src/publish', 'src/views', 'src/components', 'src/layouts', 'src/pages', 'src/model', 'src/store'];
const SERVING = ['bin', 'src/server', 'src/access', 'src/app/serving'];

export const BENCHES: Readonly<Record<string, Bench>> = {
  badges: { measures: ['src/badges', 'src/looks'] },
  busy: { measures: [...SERVING, 'src/publish', 'src/app/run', 'src/app/workers'] },
  checks: { measures: ['src/checks', 'src/sync', 'src/app/run'] },
  closing: { measures: [...SERVING, 'src/publish', 'src/app/run'] },
  log: { measures: ['src/transparency', 'src/app/transparency.ts'] },
  memory: { measures: ['bin', 'src/app', ...PUBLISHING] },
  nodes: { measures: ['src/app', 'src/store', 'src/publish'] },
  notices: { measures: ['src/notify', 'src/outbox', 'src/app/notify', 'src/store'] },
  peers: { measures: PUBLISHING, isOnlyWhenNamed: true },
  publish: { measures: ['src/app/run', ...PUBLISHING] },
  serve: { measures: SERVING },
  soak: { measures: ['src'], isOnlyWhenNamed: true },
  start: { measures: ['bin', 'src/app', 'src/config', 'src/store'] },
  sync: { measures: ['src/sync', 'src/model', 'src/store'] },
  timeline: { measures: ['src/model'] },
  visit: { measures: [...SERVING, 'src/publish', 'src/store', 'src/sync', 'src/app/run'] },
  weight: { measures: ['src/views', 'src/components', 'src/layouts', 'src/pages'] },
};

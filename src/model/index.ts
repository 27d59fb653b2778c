/** The vocabulary and the uptime arithmetic, importable as `pharos/model`. */
export * from './access.ts';
export * from './days.ts';
export * from './entries.ts';
export * from './entry.ts';
export * from './observation.ts';
export * from './overlap.ts';
export * from './page.ts';
export * from './state.ts';
export * from './time.ts';
export * from './timeline.ts';
export * from './translated.ts';
export * from './uptime.ts';

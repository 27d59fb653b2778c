/** The vocabulary and the uptime arithmetic, importable as `pharos/model`. */
export * from './observation.ts';
export * from './page.ts';
export * from './span.ts';
export * from './state.ts';
export * from './time.ts';

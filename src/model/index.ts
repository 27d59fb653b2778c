/** The vocabulary and the uptime arithmetic, importable as `pharos/model`. */
export * from './access.ts';
export * from './days.ts';
export * from './observation.ts';
export * from './page.ts';
export * from './percent.ts';
export * from './record.ts';
export * from './reported.ts';
export * from './response-time.ts';
export * from './span.ts';
export * from './state.ts';
export * from './time.ts';
export * from './timeline.ts';
export * from './uptime.ts';

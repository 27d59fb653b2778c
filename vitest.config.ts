import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/{unit,contract,consistency,e2e}/**/*.test.ts'],
    globalSetup: [],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    env: { TZ: 'America/St_Johns' },
  },
});

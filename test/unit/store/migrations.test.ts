import { expect, it } from 'vitest';
import { latestVersion, migrationsAfter } from '../../../src/store/migrations.ts';

it('migrations have numbers one after the other, so that no database counts as older than it is', () => {
  const versions = migrationsAfter(0).map(({ version }) => version);
  expect(versions).toEqual(versions.map((_, index) => index + 1));
  expect(latestVersion()).toBe(versions.at(-1));
});

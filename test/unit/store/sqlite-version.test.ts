import { expect, it } from 'vitest';
import { requireVersion } from '../../../src/store/sqlite/file.ts';

it('a library of SQLite that can corrupt databases is refused', () => {
  for (const version of ['3.51.2', '3.50.99', '2.99.99', '3.51'])
    expect(() => requireVersion(version), version).toThrow('can corrupt databases');
  for (const version of ['3.51.3', '3.52.0', '4.0.0']) expect(() => requireVersion(version), version).not.toThrow();
});

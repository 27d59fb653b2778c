import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { JSON_SCHEMAS, jsonSchemaText } from '../../../scripts/json-shapes.ts';

const FOLDER = join(import.meta.dirname, '../../../docs/schema');

it('docs/schema has every schema of our JSON as it is now; scripts/json-schemas.ts writes it', () => {
  const names = Object.keys(JSON_SCHEMAS) as (keyof typeof JSON_SCHEMAS)[];
  expect(readdirSync(FOLDER)).toEqual(expect.arrayContaining(names));
  for (const name of names)
    expect(JSON.parse(readFileSync(join(FOLDER, name), 'utf8'))).toEqual(JSON.parse(jsonSchemaText(name)));
});

/** Writes docs/schema/ from the schemas of our own JSON; `npm run format` afterwards. A test compares the two. */

import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { JSON_SCHEMAS, jsonSchemaText } from './json-shapes.ts';

const folder = fileURLToPath(new URL('../docs/schema/', import.meta.url));
await mkdir(folder, { recursive: true });
for (const name of Object.keys(JSON_SCHEMAS) as (keyof typeof JSON_SCHEMAS)[])
  await writeFile(`${folder}${name}`, jsonSchemaText(name));

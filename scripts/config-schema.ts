/** Writes docs/pharos.schema.json, which editors read for completion in pharos.yaml. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configJsonSchema } from '../src/config/json-schema.ts';
import { CONNECTORS } from '../src/sync/connectors/index.ts';

const file = join(import.meta.dirname, '..', 'docs', 'pharos.schema.json');
writeFileSync(file, `${JSON.stringify(configJsonSchema(CONNECTORS), null, 2)}\n`);

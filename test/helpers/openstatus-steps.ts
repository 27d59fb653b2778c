/**
 * What a real openstatus answered while its own interface was used on it, step by step, and beside it what the logic of
 * its own status page said of the same instant. docs/upstreams/uptime-service.md says how it was done.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EpochMs, toEpochMs } from '../../src/model/time.ts';
import { type Exchange, parseExchange } from './replay.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/openstatus');

/** A page as its own service shows it. Rows: name and status; a group begins with `# ` and says whether it is open. */
export interface ShownPage {
  readonly title: string;
  readonly access: string;
  readonly locale: string;
  readonly allowIndex: boolean;
  readonly showUptime: boolean;
  readonly rows: readonly (readonly [name: string, status: string, isOpen?: boolean])[];
  /** Type, title and status. */
  readonly open: readonly (readonly [string, string, string])[];
  /** Title, status, and what was said, oldest first. */
  readonly reports: readonly (readonly [string, string, ...string[]])[];
  /** Title, beginning, end and text. */
  readonly maintenances: readonly (readonly [string, string, string, string])[];
}

export interface OpenstatusStep {
  readonly name: string;
  readonly at: EpochMs;
  readonly exchanges: readonly Exchange[];
  readonly shown: ReadonlyMap<string, ShownPage | null>;
}

function readStep(file: string): OpenstatusStep {
  const name = file.replace(/\.txt$/, '');
  const [told = '', shown = ''] = readFileSync(join(FOLDER, file), 'utf8').split(/^SHOWN /m);
  const [at = '', ...pages] = shown.trim().split('\n');
  const parts = told.split(/^(?=REQUEST )/m).filter((part) => part !== '');
  return {
    name,
    at: toEpochMs(Date.parse(at)),
    exchanges: parts.map((part) => parseExchange(name, part)),
    shown: new Map(
      pages.map((line) => {
        const end = line.indexOf(' ');
        return [line.slice(0, end), JSON.parse(line.slice(end)) as ShownPage | null];
      }),
    ),
  };
}

/** In order; a step holds the answers that differ from those before it. */
export const OPENSTATUS_STEPS: readonly OpenstatusStep[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.txt'))
  .toSorted()
  .map(readStep);

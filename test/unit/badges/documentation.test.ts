import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { BADGE_KINDS } from '../../../src/badges/kinds.ts';
import { NamedBadgesSchema } from '../../../src/badges/named.ts';
import { BADGE_FORMATS, BADGE_STYLES } from '../../../src/badges/names.ts';
import { BadgeOptionsSchema } from '../../../src/badges/options.ts';
import { badgeLanguage } from '../../../src/badges/words.ts';
import { STATES } from '../../../src/model/state.ts';

const GUIDE = readFileSync(join(import.meta.dirname, '../../../docs/badges.md'), 'utf8');

/** The first cells of the table whose first column has this heading. */
function column(heading: string): string[] {
  const table = GUIDE.split('\n\n').find((block) => block.startsWith(`| ${heading} |`)) ?? '';
  return Array.from(table.matchAll(/^\| `([^`]+)`/gm), (match) => match[1] ?? '');
}

it('the guide names every kind, format, style and option, and no other', () => {
  expect(column('kind')).toEqual([...BADGE_KINDS]);
  expect(column('format').toSorted()).toEqual([...BADGE_FORMATS].toSorted());
  expect(column('style')).toEqual([...BADGE_STYLES]);
  expect(column('option').toSorted()).toEqual(Object.keys(BadgeOptionsSchema.shape).toSorted());
});

it('the guide names every word that can be chosen', () => {
  const words = Object.keys(badgeLanguage({}).words).filter((word) => !(STATES as readonly string[]).includes(word));
  for (const word of words) expect(GUIDE).toContain(`\`${word}\``);
});

it('the thresholds of the guide are those that editors show', () => {
  const schema = JSON.stringify(z.toJSONSchema(BadgeOptionsSchema, { io: 'input' }));
  const rows = GUIDE.matchAll(/^\| `(uptime|responseTimeMs|incidents30d|daysSinceIncident)`, [a-z ]+\| (.+) \|$/gm);
  const found = Array.from(rows, ([, , cells = '']) => cells.split(' | ').join(', '));
  expect(found).toHaveLength(4);
  for (const steps of found) expect(schema).toContain(`Default: ${steps}.`);
});

it("the guide's example is a configuration", () => {
  const names = Array.from(GUIDE.matchAll(/\{ name: (\w+), kind: ([\w-]+)/g), ([, name, kind]) => ({ name, kind }));
  expect(names).toHaveLength(2);
  expect(NamedBadgesSchema.safeParse(names).success).toBe(true);
});

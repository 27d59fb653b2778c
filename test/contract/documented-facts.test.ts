import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONNECTORS } from '../../src/sync/connectors/index.ts';
import { LOOKUP_RULES, RESOURCE_RULES } from '../../src/sync/connectors/terraform/schema.ts';

const ROOT = join(import.meta.dirname, '../..');
const TEXT = readFileSync(join(ROOT, 'docs/upstreams/facts.md'), 'utf8');

interface Row {
  readonly document: string;
  readonly fact: string;
  readonly where: string;
  readonly what: string;
}

const ROWS = TEXT.split('\n## ')
  .slice(1)
  .flatMap((section): Row[] =>
    section
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.startsWith('| fact'))
      .map((line) => {
        const [fact = '', where = '', what = ''] = line.slice(1, -1).split(' | ');
        return {
          document: section.split('\n')[0] ?? '',
          fact: fact.trim(),
          where: where.trim(),
          what: what.trim(),
        };
      }),
  );

const words = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].flatMap(([, word]) => word ?? []);
const camel = (word: string): string => word.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

describe('what the documents say', () => {
  it('is all there, and counted', () => {
    const counts = Map.groupBy(ROWS, ({ document }) => document);
    // How many facts each document holds; a fact that is taken out or forgotten changes the count.
    expect([...counts].map(([document, rows]) => [document, rows.length])).toEqual([
      ['Server monitor', 73],
      ['Customer journeys', 18],
      ['Payroll time events', 26],
      ['Backup control plane', 46],
      ['Uptime service', 129],
    ]);
    for (const [document, rows] of counts) {
      const unused = rows.filter(({ where }) => where === '–').length;
      expect(TEXT).toContain(
        `[${document}](#${document.toLowerCase().replaceAll(' ', '-')}) | ${rows.length} | ${unused} |`,
      );
    }
    expect(TEXT).toContain(`| together | ${ROWS.length} | ${ROWS.filter(({ where }) => where === '–').length} |`);
  });

  it.each(ROWS.map((row) => [`${row.document}: ${row.fact}`, row] as const))('%s', (_, { fact, where, what }) => {
    expect(what).not.toBe('');
    if (where === '–') return;
    const [file = '', word = words(fact)[0] ?? ''] = words(where);
    const path = join(ROOT, 'src', file);
    expect(existsSync(path), file).toBe(true);
    const source = readFileSync(path, 'utf8');
    expect(word).not.toBe('');
    expect(source.includes(word) || source.includes(camel(word)), `${file} names ${word}`).toBe(true);
  });

  it('has every field that is checked in Terraform files', () => {
    const later = [
      'ms_teams',
      'allowed_ip_ranges',
      'allow_index',
      'default_locale',
      'locales',
      'custom_theme',
      'default_open',
    ];
    const facts = new Set(ROWS.flatMap(({ fact, where }) => [...words(fact), ...words(where)]));
    const ofDocument = [
      'http_monitor',
      'tcp_monitor',
      'dns_monitor',
      'notification',
      'status_page',
      'status_page_component',
      'status_page_component_group',
    ] as const;
    const fields = [...ofDocument.map((type) => RESOURCE_RULES[type]), ...Object.values(LOOKUP_RULES)].flatMap((rule) =>
      Object.keys(rule.shape),
    );
    expect(fields.length).toBeGreaterThan(60);
    expect([...new Set(fields)].filter((field) => !facts.has(field) && !later.includes(field))).toEqual([]);
  });

  it('has each kind of upstream that is an API', () => {
    const named = new Set(ROWS.flatMap(({ where }) => words(where)[0]?.split('/')[2] ?? []));
    // Of these no document was handed over: what is read of them stands in their own pages. Checks ask no API.
    const others = [
      'checks',
      'gatus',
      'healthchecks',
      'markdown',
      'prometheus',
      'statuspage',
      'uptime-kuma',
      'uptimerobot',
    ];
    expect(CONNECTORS.map(({ kind }) => kind).filter((kind) => !named.has(kind) && !others.includes(kind))).toEqual([]);
    expect(readdirSync(join(ROOT, 'src/sync/connectors'))).toEqual(
      expect.arrayContaining([...named].filter((name) => !name.endsWith('.ts'))),
    );
  });
});

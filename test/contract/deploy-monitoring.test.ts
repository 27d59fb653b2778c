import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');
const RULES = 'deploy/prometheus-rules.yml';
const DASHBOARD = 'deploy/grafana-dashboard.json';
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}
interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

const rules = (parse(read(RULES)) as Rules).groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(read(DASHBOARD)) as Dashboard;

/** The table of docs/operating.md, which another test holds against what is served: name, then its labels. */
const documented = new Map(
  read('docs/operating.md')
    .split('\n')
    .filter((line) => line.startsWith('| `pharos_'))
    .flatMap((line) => {
      const [, names = '', labels = ''] = line.split('|');
      const words = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
      return words(names).map((name) => [name, new Set(words(labels))] as const);
    }),
);

/** The selectors of an expression: metric without the ending of a histogram's series, and the labels it is chosen by. */
function selectors(expr: string): { name: string; labels: string[] }[] {
  return [...expr.matchAll(/\b(pharos_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', chosen = '']) => ({
    name: name.replace(/_(bucket|count|sum)$/, ''),
    labels: [...chosen.matchAll(/(\w+)\s*=~?/g)].map(([, label = '']) => label),
  }));
}

describe('alarms and dashboard', () => {
  const expressions = [
    ...rules.map(({ alert, expr }) => [alert, expr] as const),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ];

  it.each(expressions)('%s asks for metrics and labels that there are', (_title, expr) => {
    const found = selectors(expr);
    if (!expr.startsWith('up{')) expect(found.length).toBeGreaterThan(0);
    for (const { name, labels } of found) {
      if (name.startsWith('pharos_process_')) continue;
      expect([...documented.keys()]).toContain(name);
      const unknown = labels.filter((label) => label !== 'instance' && documented.get(name)?.has(label) !== true);
      expect(unknown, expr).toEqual([]);
    }
  });

  it('lays out panels beside each other and not one upon the other', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  it.skipIf(spawnSync('promtool', ['--version']).status !== 0)('passes promtool, where it is installed', () => {
    expect(execFileSync('promtool', ['check', 'rules', join(ROOT, RULES)], { encoding: 'utf8' })).toContain('SUCCESS');
  });
});

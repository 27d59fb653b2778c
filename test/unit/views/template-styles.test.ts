import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { firstClassOf, partsOf, readTemplates, SRC } from '../../helpers/templates.ts';

const templates = readTemplates();
const styled = templates.filter(({ style }) => style !== null);
const onStatusPage = partsOf(templates, 'pages/status-page.astro');

/** Templates that have an element of a class. */
function usersOf(name: string): string[] {
  const use = new RegExp(`\\bclass=(?:"|\\{\`)(?:[^"\`]* )?${name}(?:["\` ])`);
  return templates.filter(({ text }) => use.test(text)).map(({ path }) => path);
}

describe('the styles of templates', () => {
  it('stand in the template that draws what they are about; only layouts import style sheets', () => {
    const importers = templates.filter(({ text }) => /^import '[^']+\.css';$/m.test(text)).map(({ path }) => path);
    expect(importers.toSorted()).toEqual(['layouts/Frame.astro', 'layouts/Page.astro']);
    const sheets = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.css'));
    expect(sheets.filter((path) => dirname(path) !== 'layouts')).toEqual([]);
  });

  it('are scoped by Astro in everything that no status page shows', () => {
    const others = styled.filter(({ path }) => !onStatusPage.has(path));
    expect(others.length).toBeGreaterThan(20);
    expect(others.filter(({ style }) => style?.isGlobal).map(({ path }) => path)).toEqual([]);
  });

  it('cost a status page nothing in its elements: there they are scoped by a class that one template has', () => {
    const faults = styled
      .filter(({ path }) => onStatusPage.has(path))
      .flatMap(({ path, style }) => {
        if (!style?.isGlobal) return [`${path}: Astro would add a class to each of its elements`];
        return style.selectors.flatMap((selector) => {
          const name = firstClassOf(selector);
          if (name === null) return [`${path}: ${selector} does not begin with a class`];
          const users = usersOf(name);
          return users.length === 1 && users[0] === path
            ? []
            : [`${path}: .${name} stands in ${users.join(', ') || 'no template'}`];
        });
      });
    expect(faults).toEqual([]);
  });
});

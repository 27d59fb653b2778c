import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { looksStylesheet } from '../../../src/looks/states.ts';
import { THEME_VARIABLES, themeStyle } from '../../../src/views/frame/theme.ts';

const style = (cssVariables: Record<string, string>, accentColor: string | null = null) =>
  themeStyle({ accentColor, cssVariables });

describe('the operator’s own look', () => {
  it('is a rule with the accent and the variables', () => {
    expect(style({ '--pharos-font': "Inter, 'Segoe UI', sans-serif" }, '#aa0000')).toEqual(
      expect.stringMatching(
        /^:root\{--brand:#aa0000;--pharos-accent:light-dark\(#a00,#[0-9a-f]{6}\);--pharos-font:Inter, 'Segoe UI', sans-serif\}header\.header\{/,
      ),
    );
    expect(style({})).toBeNull();
  });

  it.each([
    'url(https://evil.example)',
    'URL(x)',
    'image-set("x" 1x)',
    'red;} body{display:none',
    '</style><script>',
    '@import "x"',
    'expression(alert(1))',
    'attr(data-x)',
    '\\75 rl(x)',
    'a'.repeat(300),
    'red/*',
  ])('drops the value %j', (value) => {
    expect(style({ '--pharos-paper': value })).toBeNull();
  });

  it.each(['color', '--other', '--pharos-x{', '--pharos-A', '--pharos-unheard-of', '--s'])(
    'drops the name %j',
    (name) => {
      expect(style({ [name]: 'red' })).toBeNull();
    },
  );

  it.each(['red', '#12345', '#1234567', '#12345g'])('drops the accent %j', (accent) => {
    expect(style({}, accent)).toBeNull();
  });

  it.each(THEME_VARIABLES)('%s is used by the tokens, and in docs/theme.md', (name) => {
    const root = join(import.meta.dirname, '../../..');
    const styles = readFileSync(join(root, 'src/layouts/tokens.css'), 'utf8') + looksStylesheet();
    expect(styles).toMatch(new RegExp(`var\\(\\s*${name},`));
    expect(readFileSync(join(root, 'docs/theme.md'), 'utf8')).toContain(`\`${name}\``);
  });
});

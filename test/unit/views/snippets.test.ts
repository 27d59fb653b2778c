import { describe, expect, it } from 'vitest';
import { badgeSnippets } from '../../../src/views/badges/snippets.ts';

const init = { address: 'https://s.example/acme/badges/status', href: 'https://s.example/acme/' };
const textOf = (alt: string, language: string) =>
  badgeSnippets({ ...init, alt }).snippets.find((one) => one.language === language)?.text ?? '';

describe('snippets', () => {
  it('are there in Markdown, HTML with a picture for dark pages, AsciiDoc and reStructuredText', () => {
    expect(textOf('Acme', 'Markdown')).toBe(
      '[![Acme](https://s.example/acme/badges/status.svg)](https://s.example/acme/)',
    );
    expect(textOf('Acme', 'HTML')).toContain(
      '<picture><source media="(prefers-color-scheme: dark)" srcset="https://s.example/acme/badges/status-dark.svg">',
    );
    expect(textOf('Acme', 'AsciiDoc')).toBe(
      'image:https://s.example/acme/badges/status.svg["Acme",link="https://s.example/acme/"]',
    );
    expect(textOf('Acme', 'reStructuredText').split('\n')).toEqual([
      '.. image:: https://s.example/acme/badges/status.svg',
      '   :alt: Acme',
      '   :target: https://s.example/acme/',
    ]);
  });

  it('keep a hostile name inside its place in every language', () => {
    const name = 'a](https://evil.example) "><script>\n.. raw:: html';
    expect(textOf(name, 'Markdown')).toContain('a\\](https://evil.example) "\\>\\<script\\> .. raw:: html');
    expect(textOf(name, 'HTML')).not.toContain('<script>');
    expect(textOf(name, 'AsciiDoc')).not.toMatch(/"[^"]*"[^",]*"[^=]*>/);
    expect(textOf(name, 'reStructuredText').split('\n')).toHaveLength(3);
  });
});

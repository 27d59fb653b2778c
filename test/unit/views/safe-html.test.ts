import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { safeHtmlOfMarkdown, textOfMarkdown } from '../../../src/views/text/safe-html.ts';

describe('Markdown of updates', () => {
  it('ranks headings by the text they stand in, below those of the page', () => {
    expect(safeHtmlOfMarkdown('## a\n\n#### b\n\n## c\n\n`<h1>`')).toMatch(
      /^<h4>a<\/h4>\s*<h5>b<\/h5>\s*<h4>c<\/h4>\s*<p><code>&lt;h1&gt;<\/code><\/p>\s*$/,
    );
  });

  it('draws a picture where the page says from where, and links it elsewhere', () => {
    const text = '![a "b"](x.png) ![](https://t.example/y.png) ![c](javascript:alert(1))';
    const own = safeHtmlOfMarkdown(text, (address) => (address === 'x.png' ? '../x.png' : null));
    expect(own).toContain('<img src="../x.png" alt="a &quot;b&quot;" loading="lazy" />');
    expect(own).toContain('>https://t.example/y.png</a>');
    expect(own).not.toContain('href="javascript');
    expect(safeHtmlOfMarkdown(text), 'not what was kept for another page').not.toContain('<img');
  });

  it('is text with each address once', () => {
    expect(
      textOfMarkdown('<https://a.example> [here](https://b.example/c) <d@e.example> https://f.example/?g=1&h'),
    ).toBe('https://a.example here (https://b.example/c) d@e.example https://f.example/?g=1&h');
  });

  it('becomes paragraphs, emphasis, lists, code and quotes', () => {
    const html = safeHtmlOfMarkdown('Hello **you**\nthere\n\n- a\n- `b`\n\n> c\n\n~~d~~');
    expect(html).toContain('<p>Hello <strong>you</strong><br />');
    expect(html).toContain('<ul>');
    expect(html).toContain('<code>b</code>');
    expect(html).toContain('<blockquote>');
    expect(html).toContain('<s>d</s>');
  });

  it('has links to http, https and mail only, each with rel', () => {
    const html = safeHtmlOfMarkdown('[a](https://a.example/?x=1&y=2) [m](mailto:a@b.example) https://c.example');
    expect(html.match(/<a /g)).toHaveLength(3);
    expect(html.match(/rel="nofollow ugc noopener noreferrer"/g)).toHaveLength(3);
    expect(html).toContain('href="https://a.example/?x=1&amp;y=2"');
  });

  it.each([
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](java\nscript:alert(1))',
    '[x](&#106;avascript:alert(1))',
    '[x](data:text/html,<script>alert(1)</script>)',
    '[x](vbscript:x)',
    '[x](//evil.example)',
    '[x](/admin)',
    '[x](https://user:pw@evil.example/)',
    '<a href="javascript:alert(1)">x</a>',
    '<javascript:alert(1)>',
  ])('makes no link of %j', (text) => {
    expect(safeHtmlOfMarkdown(text)).not.toMatch(/<a [^>]*href/);
  });

  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '![x](https://tracker.example/pixel.png)',
    '<svg onload=alert(1)>',
    '<iframe src="https://evil.example"></iframe>',
    '<form action="https://evil.example"><input></form>',
    '<style>*{background:url(https://evil.example)}</style>',
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  ])('draws %j as text or not at all', (text) => {
    expect(safeHtmlOfMarkdown(text)).not.toMatch(/<(?!\/?(?:p|br|a|code|pre|em|strong)\b)/i);
  });

  it('keeps headings of updates below the headings of the page', () => {
    expect(safeHtmlOfMarkdown('# a\n## b\n### c')).toMatch(/<h4>a<\/h4>\s*<h5>b<\/h5>\s*<h6>c<\/h6>/);
  });

  it.each([
    ['emphasis', '*a **b _c '.repeat(100_000)],
    ['brackets', '['.repeat(1_000_000)],
    ['quotes', '> '.repeat(500_000)],
    ['backticks', '`a``b'.repeat(200_000)],
    ['links', '[a](b '.repeat(170_000)],
  ])('cuts a megabyte of %s and stays bounded', (_name, text) => {
    const html = safeHtmlOfMarkdown(text);
    expect(html.length).toBeLessThan(600_000);
  });
});

describe('what components draw as markup', () => {
  it('is only what this module made, and our own script: a property of that type, which the check of templates holds', () => {
    const folder = join(import.meta.dirname, '../../../src');
    const templates = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.astro'))
      .map((path) => readFileSync(join(folder, path), 'utf8'));
    const drawn = templates.flatMap((text) =>
      [...text.matchAll(/set:html=\{([^}]*)\}/g)].map(([, name = '']) =>
        new RegExp(`^  ${name}: SafeHtml;$`, 'm').test(text) ? 'SafeHtml' : name,
      ),
    );
    expect(new Set(drawn)).toEqual(new Set(['SafeHtml', 'HEAD_SCRIPT', 'OFFER_SCRIPT']));
  });

  it('has no spread, no unescaped directive and no variables in styles or scripts', () => {
    const folder = join(import.meta.dirname, '../../../src');
    for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
      if (path.endsWith('.astro'))
        expect(readFileSync(join(folder, path), 'utf8'), path).not.toMatch(/\{\.\.\.\w+\}|set:text|define:vars|is:raw/);
  });
});

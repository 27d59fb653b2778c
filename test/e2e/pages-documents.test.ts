import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join, parse } from 'node:path';
import { HtmlValidate } from 'html-validate';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadRenderer, type Renderer } from '../../src/publish/draw/renderer.ts';
import { preparing } from '../../src/server/visitors/page-answer.ts';
import { notFoundView } from '../../src/views/page/not-found.ts';
import { statusPageView } from '../../src/views/page/status-page.ts';
import { CATALOGUES } from '../../src/views/words/index.ts';
import { onePageOfEachKind, pagesOf, render, sceneStatusPages } from '../helpers/every-page.ts';
import { hostilePage } from '../helpers/hostile-page.ts';
import { calm, outage } from '../helpers/page-scenes.ts';

let renderer: Renderer;
beforeAll(async () => {
  renderer = await loadRenderer();
});

const validator = new HtmlValidate({
  extends: ['html-validate:standard', 'html-validate:a11y'],
  rules: {
    // What the compiler writes: `<circle></circle>`, `<br />` of the sanitiser, and attributes without quotes nowhere.
    'void-style': 'off',
    'svg-self-closing': 'off',
    'no-trailing-whitespace': 'off',
    'long-title': 'off',
    // Not one of ours sends a form; `method="dialog"` keeps Enter from leaving the page.
    'wcag/h32': 'off',
    'form-dup-name': 'off',
    // Titles of people are as long as people write them, and a document about a state needs no subresource integrity.
    'require-sri': 'off',
    'prefer-native-element': 'off',
  },
});

async function faultsOf(html: string): Promise<string[]> {
  const { results } = await validator.validateString(html);
  return results.flatMap(({ messages }) =>
    messages.map((one) => `${one.ruleId}: ${one.message} at ${one.line}:${one.column}`),
  );
}

describe('documents', () => {
  it('are drawn for every kind of view there is, each by a route of its name', () => {
    const routes = readdirSync(join(import.meta.dirname, '../../src/pages')).map((name) => parse(name).name);
    expect(new Set(onePageOfEachKind().map(({ kind }) => kind))).toEqual(new Set(routes));
  });

  it('are valid HTML, every kind of them', async () => {
    for (const page of onePageOfEachKind()) {
      const { html } = await render(renderer, page);
      expect(await faultsOf(html), page.kind).toEqual([]);
    }
  });

  it('are valid HTML, every kind of them, whatever is written on them', async () => {
    for (const locale of ['en', 'ar'])
      for (const page of onePageOfEachKind(hostilePage({ settings: { locale } }))) {
        const { html } = await render(renderer, page);
        expect(await faultsOf(html), `${page.kind}, ${locale}`).toEqual([]);
      }
  });

  it('are valid HTML while the page is being prepared', async () => {
    const html = String(preparing('index.html', 'ar').body);
    const refresh = /<meta http-equiv="refresh"[^>]*>/;
    expect(html).toMatch(refresh);
    // That it loads itself again is what it is for: there is nothing on it that a reader could lose.
    expect(await faultsOf(html.replace(refresh, ''))).toEqual([]);
  });

  it('are valid HTML in every situation of the status page', async () => {
    for (const { name, model } of sceneStatusPages()) {
      if (name === 'many-components') continue; // The same rows twenty times, and a minute of checking.
      const { html } = await renderer.render('status-page', statusPageView(model));
      expect(await faultsOf(html), name).toEqual([]);
    }
  });

  it('are the same bytes for the same view', async () => {
    for (const page of onePageOfEachKind()) {
      const [once, again] = [await render(renderer, page), await render(renderer, structuredClone(page))];
      expect(again, page.kind).toEqual(once);
    }
  });

  it('name the language and the direction of their words', async () => {
    for (const locale of Object.keys(CATALOGUES)) {
      const { html } = await renderer.render('status-page', statusPageView(outage({ settings: { locale } })));
      expect(html).toContain(`<html lang="${locale}" dir="${locale === 'ar' ? 'rtl' : 'ltr'}"`);
      const drawn = html.replace(/<script[\s\S]*?<\/script>/g, '');
      expect(drawn).not.toMatch(/\{(?:time|name|names|n|day|state)\}|undefined|\[object/);
    }
  });

  it('hold every instant in a time element, and no words that go stale', async () => {
    const { html } = await renderer.render('status-page', statusPageView(outage()));
    const text = html.replace(/<(script|style)[\s\S]*?<\/\1>/g, '').replace(/<time [^>]*>[^<]*<\/time>/g, '');
    expect(html.match(/<time datetime="2026-/g)?.length).toBeGreaterThan(8);
    expect(text).not.toMatch(/\b(?:minutes?|hours?|seconds?) ago\b|just now|yesterday/i);
  });
});

describe('policies', () => {
  it('allow nothing but the hashes of what stands in the page, or in a file that the page names with its hash', async () => {
    for (const page of onePageOfEachKind()) {
      const { html, csp } = await render(renderer, page);
      expect(csp, page.kind).toMatch(/^default-src 'none';/);
      expect(csp.replace(/form-action [^;]*/, '')).not.toMatch(
        /unsafe|\*|http:|https:|'self'[^;]*'sha256|strict-dynamic/,
      );
      expect(csp.match(/script-src ([^;]*)/)?.[1]).toMatch(/^('none'|'sha256-[\w+/=]+'( 'sha256-[\w+/=]+')*)$/);
      const inline = html.match(/<(?:style|script)[^>]*>/g) ?? [];
      expect(csp.match(/'sha256-/g)?.length, 'each style and script of the page is allowed').toBe(inline.length);
      for (const [, name = '', hash = ''] of html.matchAll(/ src="(?:[./]*)(\w+\.js)\?[^"]*" integrity="([^"]*)"/g)) {
        expect(hash).toBe(`sha256-${createHash('sha256').update(renderer.scriptOf(name)).digest('base64')}`);
        expect(csp).toContain(`'${hash}'`);
      }
      expect(html).toContain(`<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${csp}">`);
    }
  });

  it('leave scripts in pages behind a gate, in drafts, and in the page for addresses where nothing is', async () => {
    const view = statusPageView(outage());
    const { html: published } = await renderer.render('status-page', view, 'file');
    expect(published.match(/ src="(?:days|enhance)\.js\?\w{8}" integrity=/g)?.length).toBe(2);
    const gated = statusPageView(outage({ definition: { access: 'password' } }));
    for (const { html } of [
      await renderer.render('status-page', view),
      await renderer.render('status-page', gated, 'file'),
      await renderer.render('not-found', notFoundView(outage()), 'file'),
    ])
      expect(html).not.toContain(' integrity=');
  });

  it('know the operator’s variables and nothing else that came in', async () => {
    const model = calm({ settings: { accentColor: '#aa0000' } });
    const { html, csp } = await renderer.render('status-page', statusPageView(model));
    const { csp: without } = await renderer.render('status-page', statusPageView(calm()));
    expect(html).toMatch(/<style>:root\{--brand:#aa0000;--pharos-accent:[^<]*<\/style><\/head>/);
    expect(csp.split("'sha256-").length).toBe(without.split("'sha256-").length + 1);
  });

  it('forbid sending forms except for signing in, for operators, and to where visitors subscribe', async () => {
    const seen = new Set<string>();
    for (const page of onePageOfEachKind()) {
      const { csp } = await render(renderer, page);
      const hasForms = ['login', 'ops', 'ops-sign-in', 'ops-write', 'subscribe'].includes(page.kind);
      const { subscribeHref } = page.view.shell;
      const elsewhere = subscribeHref === null ? "'none'" : new URL(subscribeHref).origin;
      const [, allowed = ''] = /form-action ([^;]*)/.exec(csp) ?? [];
      expect([page.kind, allowed]).toEqual([page.kind, hasForms ? "'self'" : elsewhere]);
      seen.add(allowed);
    }
    expect(seen.size).toBe(3);
    // A private page has a link there instead.
    const gated = calm({ definition: { ...calm().definition, access: 'password' } });
    const { csp, html } = await renderer.render('status-page', statusPageView(gated));
    expect(csp).toContain("form-action 'none'");
    expect(html).not.toContain('<form');
  });
});

describe('links', () => {
  it('lead from every page to a page that exists, whatever the depth', async () => {
    const model = outage();
    const pages = pagesOf(model);
    const machine =
      /^(?:feed\.(?:atom|rss|json)|maintenance\.ics|site\.webmanifest|api\/|.*\/(?:feed\.\w+|maintenance\.ics|report\.(?:csv|json))|(?:.*\/)?badges\/.*\.svg|history\/|reports\/|log\/|subscribe\/$)/;
    const known = new Set(pages.map(({ path }) => path));
    for (const page of pages) {
      const { html } = await render(renderer, page);
      const here = new URL(page.path, model.settings.url);
      for (const [, href = ''] of html.replace(/<script[\s\S]*?<\/script>/g, '').matchAll(/ (?:href|src)="([^"]*)"/g)) {
        if (/^(?:data:|mailto:|#)/.test(href)) continue;
        const target = new URL(href.replaceAll('&amp;', '&'), here);
        if (!target.href.startsWith(model.settings.url)) continue;
        const path = target.href.slice(model.settings.url.length).replace(/#.*/, '');
        expect(known.has(path) || path === 'og.png' || machine.test(path), `${page.path} → ${href}`).toBe(true);
      }
    }
  });

  it('are page-relative on every page but the one shown at any depth', async () => {
    for (const page of pagesOf(outage())) {
      if (page.kind === 'not-found') continue;
      const { html } = await render(renderer, page);
      const absolute = [...html.matchAll(/<a [^>]*href="(\/[^"]*|https:\/\/status\.acme\.example[^"]*)"/g)];
      // A copy on a static host takes no subscriptions: whoever asks for one is led to the server that does.
      expect(
        absolute.map((match) => match[1]),
        page.path,
      ).toEqual(page.kind === 'embed' ? [] : ['https://status.acme.example/acme/subscribe/']);
    }
  });

  it('point to what is on the page', async () => {
    for (const page of onePageOfEachKind()) {
      const { html } = await render(renderer, page);
      const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]));
      for (const [, id] of html.matchAll(/ href="#([^"]+)"/g)) expect(ids.has(id), `${page.path} #${id}`).toBe(true);
    }
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { XMLValidator } from 'fast-xml-parser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BADGE_KINDS } from '../../src/badges/kinds.ts';
import { type RunningPharos, temporaryFolder, untilFresh } from '../helpers/pharos.ts';
import { startUnlimitedSandbox, unlimitedConfig } from '../helpers/sandbox.ts';
import { startWarm } from '../helpers/warm.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

/** GitHub's image proxy gives up on anything larger. */
const CAMO_BYTES_MAX = 5_242_880;

describe('badges of a running server', () => {
  const folder = temporaryFolder();
  let sandbox: Sandbox;
  let pharos: RunningPharos;

  beforeAll(async () => {
    sandbox = await startUnlimitedSandbox();
    const config = unlimitedConfig(sandbox).replace(
      'access_type: public',
      'access_type: public\n    badge: { label: Acme }\n    badges: [{ name: our-uptime, kind: uptime-30d, label: "Our month", decimals: 3 }]',
    );
    writeFileSync(join(folder.path, 'pharos.yaml'), `${config}schedule: "0 0 1 * *"\n`);
    pharos = await startWarm(['start', '--port', '0'], { cwd: folder.path, env: sandbox.environment() });
    await untilFresh(pharos);
    // From here on nothing is published, so that answers to two requests can be compared.
    await pharos.stop();
    pharos = await startWarm(['serve', '--port', '0'], { cwd: folder.path, env: sandbox.environment() });
  });
  afterAll(async () => {
    await pharos?.stop();
    await sandbox?.stop();
    folder.remove();
  });

  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(pharos.url + path, { headers, redirect: 'manual' });
  const title = async (path: string): Promise<string> =>
    /<title>([^<]*)/.exec(await (await get(path)).text())?.[1] ?? '';

  it('draws every kind of the page, of a group and of a component, as an image that proxies take', async () => {
    const summary = (await (await get('/acme/api/v2/components.json')).json()) as {
      components: { id: string; group: boolean }[];
    };
    expect(summary.components.some((component) => component.group)).toBe(true);
    const page = await (await get('/acme/')).text();
    const component = /components\/([A-Za-z0-9_-]+)\//.exec(page)?.[1];
    for (const scope of ['', `components/${component}/`, 'groups/core/']) {
      for (const kind of BADGE_KINDS) {
        const answer = await get(`/acme/${scope}badges/${kind}.svg`);
        const body = await answer.text();
        expect([scope, kind, answer.status, answer.headers.get('content-type')]).toEqual([
          scope,
          kind,
          200,
          'image/svg+xml; charset=utf-8',
        ]);
        expect(answer.headers.get('cache-control')).toBe('public, max-age=60, s-maxage=60');
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
        expect(answer.headers.get('content-security-policy')).toContain('sandbox');
        expect(XMLValidator.validate(body)).toBe(true);
        expect(Number(answer.headers.get('content-length'))).toBeLessThan(CAMO_BYTES_MAX);
        expect(body).toContain('role="img"');
      }
    }
  });

  it('gives every format, and says nothing anew that a client has', async () => {
    const types = {
      '-light.svg': 'image/svg+xml; charset=utf-8',
      '-dark.svg': 'image/svg+xml; charset=utf-8',
      '.json': 'application/json; charset=utf-8',
      '.png': 'image/png',
    };
    for (const [format, type] of Object.entries(types)) {
      const answer = await get(`/acme/badges/status${format}`);
      expect([format, answer.status, answer.headers.get('content-type')]).toEqual([format, 200, type]);
    }
    const endpoint = await (await get('/acme/badges/status.json')).json();
    expect(endpoint).toMatchObject({
      schemaVersion: 1,
      label: 'Acme',
      message: expect.any(String) as string,
      cacheSeconds: expect.any(Number) as number,
    });
    const etag = (await get('/acme/badges/status.svg')).headers.get('etag') ?? '';
    expect(etag).not.toBe('');
    expect((await get('/acme/badges/status.svg', { 'if-none-match': etag })).status).toBe(304);
  });

  it('compares what a client has with what there is in one way, for a page and for a badge', async () => {
    for (const path of ['/acme/', '/acme/badges/status.svg']) {
      const etag = (await get(path)).headers.get('etag') ?? '';
      const conditions: Readonly<Record<string, number>> = {
        [etag]: 304,
        [`W/${etag}`]: 304,
        [`"other" , W/"another",${etag}`]: 304,
        '*': 304,
        '"other"': 200,
        [etag.slice(1, -1)]: 200,
        [`"${etag}"`]: 200,
      };
      for (const [condition, status] of Object.entries(conditions))
        expect((await get(path, { 'if-none-match': condition })).status, `${path} ${condition}`).toBe(status);
    }
  });

  it('draws the operator’s own badge, and what visitors may ask for, but never their words', async () => {
    expect(await title('/acme/badges/our-uptime.svg')).toMatch(/^Our month: /);
    expect(await title('/acme/badges/status.svg?label=Service&style=pill')).toMatch(/^Service: /);
    const plain = await (await get('/acme/badges/status.svg')).text();
    expect(await (await get('/acme/badges/status.svg?message=Hacked&color=red&words=x&colors=y')).text()).toBe(plain);
    expect(await title(`/acme/badges/status.svg?label=${'x'.repeat(5_000)}`)).toMatch(/^Acme: /);
  });

  it('answers what is not there with one small grey badge, never with a redirect', async () => {
    const paths = [
      '/acme/badges/nothing.svg',
      '/acme/components/nobody/badges/status.svg',
      '/nowhere/badges/status.svg',
      '/partners/badges/status.svg',
      '/acme/badges/nothing.png',
    ];
    const answers = await Promise.all(
      paths.map(async (path) => {
        const answer = await get(path);
        return {
          status: answer.status,
          type: answer.headers.get('content-type'),
          cache: answer.headers.get('cache-control'),
          body: await answer.text(),
        };
      }),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({
      status: 404,
      type: 'image/svg+xml; charset=utf-8',
      cache: 'private, no-store',
    });
    expect(answers[0]?.body).toMatch(/<title>[^<]*not found/);
  });
});

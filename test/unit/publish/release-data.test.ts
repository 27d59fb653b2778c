/** What releases of this version and of older ones say, to whoever reads it. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { toPageKey } from '../../../src/model/slugs.ts';
import { releaseFolders } from '../../../src/publish/releases/folders.ts';
import { readReleaseData, releaseDataText } from '../../../src/publish/releases/release-data.ts';
import { badgeSubjects } from '../../../src/views/badges/badge-subjects.ts';
import { nowFacts } from '../../../src/views/json/state-json.ts';
import { calm, outage, stale } from '../../helpers/page-scenes.ts';

const NOTHING = { summary: null, now: null, onDemand: null, listed: null };
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Reads a text as the data of a release. */
function read(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-data-'));
  folders.push(folder);
  const places = releaseFolders(folder);
  mkdirSync(join(places.releases, 'acme/7'), { recursive: true });
  writeFileSync(join(places.releases, 'acme/7/data.json'), text);
  return readReleaseData(places, 'acme', 7);
}

describe('the data of a release', () => {
  it.each([calm, outage, stale])('is read as it was written: %o', (scene) => {
    const model = scene();
    const { state, since, asOf, staleAfter } = model;
    const options = { locale: 'de', label: '{name}' };
    const named = [{ name: 'mine', kind: 'uptime-7d' as const }];
    const onDemand = { options, named, subjects: badgeSubjects(model), staleAfter };
    const data = { summary: { state, since, asOf }, now: nowFacts(model), onDemand };
    expect(read(releaseDataText(data))).toEqual({ ...NOTHING, ...data });
    const listed = [{ slug: 'acme', page: toPageKey('acme', 2) }];
    expect(read(releaseDataText({ listed }))).toEqual({ ...NOTHING, listed });
    // As versions before 2026-11-23 wrote it.
    expect(read('{"listed":["acme"]}')).toEqual({ ...NOTHING, listed: [{ slug: 'acme', page: null }] });
  });

  it('of an older version says what it can: no start of the state, days as objects, nothing for now.json', () => {
    const model = outage();
    const { state, asOf, staleAfter } = model;
    const { page, groups, components } = badgeSubjects(model);
    const days = [
      { state: 'operational', coverageRatio: 1 },
      { state: 'major_outage', coverageRatio: 1 },
    ];
    const older = { ...page, days };
    const found = read(
      JSON.stringify({
        summary: { state, asOf, dataFrom: 1 },
        onDemand: { options: { locale: 'en' }, named: [], staleAfter, subjects: { page: older, groups, components } },
      }),
    );
    expect(found).toMatchObject({ summary: { state, since: null, asOf }, now: null, listed: null });
    expect(found?.onDemand?.subjects.page.days).toMatch(/^[a-z]{2}$/i);
    expect(found?.onDemand?.subjects.components).toEqual(components);
  });

  it.each([
    ['{}'],
    ['{"onDemand":null,"listed":null}'],
    ['{"summary":{"state":"nice"},"now":7,"onDemand":{"subjects":[]},"listed":{"acme":true}}'],
  ])('says nothing where a part is missing or unknown: %s', (text) => {
    expect(read(text)).toEqual(NOTHING);
  });

  it.each([[''], ['{'], ['null'], ['[]'], ['"text"']])('can’t be read if it is damaged: %s', (text) => {
    expect(read(text)).toBeNull();
  });
});

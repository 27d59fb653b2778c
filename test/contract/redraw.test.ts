/** What is redrawn is what shows something else: never fewer files than that, and none besides. */

import { beforeAll, describe, expect, it } from 'vitest';
import {
  DAY_MS,
  type EpochMs,
  HOUR_MS,
  MINUTE_MS,
  type PageIncident,
  type PageMaintenance,
  type PageModel,
  type TimelineSpan,
} from '../../src/model/index.ts';
import { drawFiles } from '../../src/publish/draw/renderer.ts';
import type { FileEntry } from '../../src/publish/files/file-entry.ts';
import { badgeFiles, pageFiles } from '../../src/publish/files/files.ts';
import { partsFingerprint } from '../../src/publish/fingerprint.ts';
import { badgeSubjects } from '../../src/views/badges/badge-subjects.ts';
import type { FieldChange } from '../helpers/field-changes.ts';
import { type Scene, sceneChanges, sceneOf } from '../helpers/page-fields.ts';
import { AS_OF, ago, incident, maintenance, randomOf, withOneDown } from '../helpers/page-model.ts';
import { calm, empty, eventful, oneComponent, outage, rightToLeft, stale } from '../helpers/page-scenes.ts';
import { createRedrawing, manifestOf, type Published, type Redrawing, rekeyed } from '../helpers/redrawing.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
/** Some ten seconds of one core for each. */
const TIMEOUT_MS = 240_000 * Math.max(1, SCALE);

let drawing: Redrawing;
beforeAll(async () => {
  drawing = await createRedrawing();
});

/** What people say in another language: the first part is what they say in the default one. */
type Said = (text: string, about: string) => string;
const inGerman: Said = (text) => `${text} (auf Deutsch)`;

/** The page with a tree in German, which shows what it shows in other words. */
function inTwoLanguages({ model, badge }: Scene, said: Said = inGerman): Scene {
  const all = [model.settings.locale, 'de'];
  const settings = {
    ...model.settings,
    locale: 'de',
    url: `${model.settings.url}de/`,
    languages: { all, path: 'de/' },
  };
  const { definition } = model;
  const story = <Story extends PageIncident | PageMaintenance>(one: Story): Story => ({
    ...one,
    title: said(one.title, one.slug),
    updates: one.updates.map((update) => ({ ...update, body: said(update.body, update.id) })),
  });
  const other: PageModel = {
    ...model,
    settings,
    titleLang: undefined,
    definition: {
      ...definition,
      title: said(definition.title, 'title'),
      description: definition.description && said(definition.description, 'description'),
    },
    groups: model.groups.map((group) => ({ ...group, name: said(group.name, group.id) })),
    components: model.components.map((one) => ({
      ...one,
      name: said(one.name, one.definition.id),
      plainName: said(one.plainName, one.definition.id),
    })),
    incidents: model.incidents.map(story),
    maintenances: model.maintenances.map(story),
  };
  return { model: { ...model, settings: { ...model.settings, languages: { all, path: '' } }, others: [other] }, badge };
}
const germanFiles = (scene: Scene): FileEntry[] =>
  filesOf(inTwoLanguages(scene)).filter(({ path }) => path.startsWith('de/'));

const filesOf = ({ model, badge }: Scene): FileEntry[] => pageFiles(model, { badge });
/** Badges that take no time. */
const badgesOf = ({ model, badge }: Scene): FileEntry[] =>
  badgeFiles(badgeSubjects(model), badge).filter(({ priority }) => priority === 'immediate');

interface Drawn {
  /** Files that were compared, after every change. */
  compared: number;
  /** Those of them that were drawn and came out as they were. */
  inVain: number;
}

/** Compares what is redrawn of a changed page with what should be. */
async function expectExact(
  before: Published,
  { name, data }: Pick<FieldChange<Scene>, 'name' | 'data'>,
  entriesOf: (scene: Scene) => FileEntry[],
  drawn: Drawn = { compared: 0, inVain: 0 },
): Promise<Published> {
  const { after, stale: left, needless, drawnInVain } = await drawing.redraw(before, () => entriesOf(data));
  expect({ name, left, needless }).toEqual({ name, left: [], needless: [] });
  drawn.compared += after.bytes.size;
  drawn.inVain += drawnInVain.length;
  return after;
}

/**
 * Of files that are compared, as many at most are drawn for nothing. Pages are made from parts of the model that they
 * share, and show less than all of each part; cutting every part to the measure of every page would cost more than drawing
 * these. Files in another language share one digest of all words about a component. A badge is made from little else than
 * what it shows.
 */
const IN_VAIN_MAX = { files: 0.07, spoken: 0.15, badges: 0.001 };

describe('a change of any one field of a page', () => {
  const places = Math.max(1, Math.round(SCALE));
  const values = Math.min(3, Math.ceil(SCALE));
  /** At a smaller scale than 1, one change in three. */
  const thinned = SCALE < 1 ? 3 : 1;

  it.each([
    ['files', filesOf, 1, IN_VAIN_MAX.files, thinned],
    ['files in another language', germanFiles, 1, IN_VAIN_MAX.spoken, thinned],
    ['badges, where they are files', badgesOf, 2, IN_VAIN_MAX.badges, thinned],
  ] as const)(
    'redraws exactly the %s whose bytes differ',
    async (_, entriesOf, seed, inVainMax, every) => {
      const scene = sceneOf(eventful());
      const before = await drawing.publish(() => entriesOf(scene));
      const fields = new Set<string>();
      const drawn: Drawn = { compared: 0, inVain: 0 };
      const changes = [...sceneChanges(scene, { places, values, seed })];
      for (const change of changes.filter((_, index) => index % every === 0)) {
        fields.add(change.field);
        await expectExact(before, change, entriesOf, drawn);
      }
      expect(fields.size).toBeGreaterThan(120 / every);
      expect(drawn.inVain / drawn.compared).toBeLessThan(inVainMax);
    },
    TIMEOUT_MS,
  );

  it(
    'redraws exactly those on pages in other situations, and after one change the next',
    async () => {
      const next = randomOf(7);
      for (const make of [calm, outage, stale, oneComponent, empty, rightToLeft]) {
        let scene = sceneOf(make());
        let page = await drawing.publish(() => filesOf(scene));
        for (let step = 0; step < Math.max(3, 6 * SCALE); step += 1) {
          const seed = Math.floor(next() * 1e9);
          const changes = [...sceneChanges(scene, { places: 1, values: 1, seed })];
          const change = changes[Math.floor(next() * changes.length)];
          if (change === undefined) throw new Error('the page has no fields');
          scene = change.data;
          page = await expectExact(page, { name: change.name, data: scene }, filesOf);
        }
      }
    },
    TIMEOUT_MS,
  );
});

function splitAt(span: TimelineSpan | undefined, at: EpochMs): TimelineSpan[] {
  if (span === undefined) return [];
  return [
    { ...span, to: at },
    { ...span, from: at, state: 'major_outage' },
  ];
}

/** Changes that are more than one field. */
const CHANGES: Readonly<Record<string, (model: PageModel) => PageModel>> = {
  nothing: (model) => structuredClone(model),
  'one component down': withOneDown,
  'a quarter of an hour': (model) => ({
    ...model,
    asOf: ago(-15 * MINUTE_MS),
    staleAfter: ago(-HOUR_MS),
    dataFrom: AS_OF,
  }),
  'another incident': (model) => ({ ...model, incidents: [incident({ slug: 'new' }), ...model.incidents] }),
  'an old incident edited': (model) => ({
    ...model,
    incidents: model.incidents.map((one) => (one.slug === 'slow-search' ? { ...one, title: 'Edited' } : one)),
  }),
  'old words changed': (model) => ({
    ...model,
    incidents: model.incidents.map((one) => ({
      ...one,
      updates: one.updates.map((update) => ({ ...update, body: `${update.body} Edited.` })),
    })),
  }),
  'another maintenance': (model) => ({
    ...model,
    maintenances: [maintenance({ slug: 'new' }), ...model.maintenances],
  }),
  'an earlier window of a maintenance': (model) => ({
    ...model,
    maintenances: model.maintenances.map((one) => ({
      ...one,
      windows: [{ from: ago(63 * DAY_MS), to: ago(62 * DAY_MS) }, ...one.windows],
    })),
  }),
  'a component renamed': (model) => ({
    ...model,
    components: model.components.map((one, index) => (index === 1 ? { ...one, name: 'Renamed' } : one)),
  }),
  'a component gone': (model) => ({ ...model, components: model.components.slice(1) }),
  'another language': (model) => ({ ...model, settings: { ...model.settings, locale: 'de' } }),
  'another zone': (model) => ({ ...model, settings: { ...model.settings, timezone: 'Asia/Tokyo' } }),
  'another address': (model) => ({ ...model, settings: { ...model.settings, url: 'https://x.example/' } }),
  'another title': (model) => ({ ...model, definition: { ...model.definition, title: 'Other' } }),
  'a stale source': (model) => ({ ...model, isStale: true, dataFrom: null }),
  'a minute in which one component changed': (model) => {
    const last = withOneDown(model);
    const components = last.components.map((one, index) =>
      index > 0
        ? one
        : { ...one, timeline: [...one.timeline.slice(0, -1), ...splitAt(one.timeline.at(-1), ago(30_000))] },
    );
    return { ...last, components };
  },
  'a maintenance begun': (model) => ({
    ...model,
    maintenances: model.maintenances.map((one) => ({ ...one, status: 'in_progress', startsAt: ago(MINUTE_MS) })),
  }),
  'a group renamed': (model) => {
    const groups = model.groups.map((one) => ({ ...one, name: `${one.name}!` }));
    return { ...model, groups, definition: { ...model.definition, groups } };
  },
  'figures of the upstream': (model) => ({
    ...model,
    components: model.components.map((one) => ({
      ...one,
      upstreamUptime: { periodDays: 30, checksTotal: 10, checksUp: 9, uptimeRatio: 0.9, responseTimeAverageMs: 4 },
      responseTimes: [],
    })),
  }),
  'another accent': (model) => ({ ...model, settings: { ...model.settings, accentColor: '#123456' } }),
  'other sources': (model) => ({
    ...model,
    sources: model.sources.map((one) => ({ ...one, intervalMs: 5 * MINUTE_MS, isIncidentsStale: true })),
  }),
  'no announcements': (model) => ({ ...model, announcements: [] }),
  'a page unlisted': (model) => ({ ...model, settings: { ...model.settings, allowIndex: false } }),
};

describe('a change of what is said in another language alone', () => {
  it('redraws exactly the files in it whose bytes differ', async () => {
    const scene = sceneOf(eventful());
    const { model } = scene;
    const before = await drawing.publish(() => filesOf(inTwoLanguages(scene)));
    const said = [
      ...['title', 'description'],
      ...[...model.groups, ...model.components.map(({ definition }) => definition)].map(({ id }) => id),
      ...[...model.incidents, ...model.maintenances].flatMap(({ slug, updates }) => [
        slug,
        ...updates.map(({ id }) => id),
      ]),
    ];
    expect(said.length).toBeGreaterThan(20);
    for (const changed of said) {
      const data = inTwoLanguages(scene, (text, about) => inGerman(text, about) + (about === changed ? ' jetzt' : ''));
      const after = await expectExact(before, { name: changed, data }, filesOf);
      expect(
        [...after.bytes].filter(([path, bytes]) => !path.startsWith('de/') && bytes !== before.bytes.get(path)),
      ).toEqual([]);
    }
  });
});

describe('a change of several fields', () => {
  const scenes = [eventful, outage];
  const before: Published[] = [];
  beforeAll(async () => {
    for (const make of scenes) before.push(await drawing.publish(() => filesOf(sceneOf(make()))));
  });

  it.each(Object.entries(CHANGES))('redraws exactly the files whose bytes differ: %s', async (name, change) => {
    for (const [index, page] of before.entries()) {
      const data = sceneOf(change((scenes[index] ?? eventful)()));
      await expectExact(page, { name, data }, filesOf);
    }
  });
});

describe('what a file is made from', () => {
  /** The entries as they would be if somebody had forgotten one of their inputs. */
  const forgetting = (entries: readonly FileEntry[], part: string): FileEntry[] =>
    entries.map((entry) => {
      const { [part]: _, ...rest } = entry.inputs as Readonly<Record<string, unknown>>;
      return Object.create(entry, { fingerprint: { value: partsFingerprint(rest) } }) as FileEntry;
    });
  /** Of parts that files of a page share. */
  const digests = new WeakMap<object, string>();
  const digestOf = (part: unknown): string =>
    typeof part === 'object' && part !== null
      ? digests.getOrInsertComputed(part, () => partsFingerprint({ part }))
      : partsFingerprint({ part });
  const partsOf = ({ inputs }: FileEntry): ReadonlyMap<string, string> =>
    new Map(Object.entries(inputs).map(([name, part]) => [name, digestOf(part)]));
  /** Kinds that are made from parts of the model; the others are made from what they show. */
  const isOfParts = ({ inputs }: FileEntry): boolean => 'frame' in inputs || 'head' in inputs;
  /** What is the same for a path or for all pages, or is said in another part too: alone it changes nothing here. */
  const SAID_OTHERWISE: ReadonlySet<string> = new Set([
    ...['history month', 'report month'],
    ...['atom', 'rss', 'json-feed'].flatMap((kind) => [`${kind} isHistory`, `${kind} emptySince`]),
    // What is open says until when it is to be believed, which moves with it.
    ...['incident asOf', 'maintenance asOf'],
    // Part of what stands around every page of the present, which these pages show less of.
    ...['incident sources', 'maintenance sources', 'uptime-calendar since'],
    // Time lines end at the one; the other is the last instant in the month's events that is past.
    ...['report asOf', 'history asOf'],
  ]);

  const kindsOfParts = new Set(
    filesOf(sceneOf(eventful()))
      .filter(isOfParts)
      .map(({ kind }) => kind.name),
  );
  // To look at what the others are made from would make it.
  const ofParts = (one: Scene): FileEntry[] => filesOf(one).filter(({ kind }) => kindsOfParts.has(kind.name));
  const partNames = (entries: readonly FileEntry[]): ReadonlySet<string> =>
    new Set(entries.flatMap((entry) => [...partsOf(entry).keys()].map((part) => `${entry.kind.name} ${part}`)));

  /** Takes from `wanted` each part without which a change of the page would leave a file as it was. */
  async function tickOff(scene: Scene, wanted: Set<string>): Promise<void> {
    const before = await drawing.publish(() => ofParts(scene));
    const partsBefore = new Map(ofParts(scene).map((entry) => [entry.path, partsOf(entry)]));
    for (const { data } of sceneChanges(scene, { places: Infinity, values: Infinity, seed: 3 })) {
      if (wanted.size === 0) return;
      for (const entry of ofParts(data)) {
        const earlier = partsBefore.get(entry.path);
        const changed = [...partsOf(entry)].filter(([part, digest]) => earlier?.get(part) !== digest);
        const [part] = changed.length === 1 ? (changed[0] ?? []) : [];
        const name = `${entry.kind.name} ${part}`;
        if (part === undefined || !wanted.has(name)) continue;
        const list = (one: Scene) =>
          forgetting(
            filesOf(one).filter(({ path }) => path === entry.path),
            part,
          );
        const known = rekeyed(before, list(scene), drawing.options);
        const { stale: left } = await drawing.redraw(known, () => list(data));
        if (left.includes(entry.path)) wanted.delete(name);
      }
    }
  }

  it(
    'is needed to the last part: without any one of them, files would stay as they were',
    async () => {
      const scene = sceneOf(eventful());
      const wanted = new Set([...partNames(ofParts(scene))].filter((part) => !SAID_OTHERWISE.has(part)));
      expect(wanted.size).toBeGreaterThan(30);
      await tickOff(scene, wanted);
      expect([...wanted]).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe('another version of the program', () => {
  it('draws every file anew, and writes only those that differ', async () => {
    const scene = sceneOf(eventful());
    const { manifest } = await drawing.publish(() => filesOf(scene));
    const drawn: string[] = [];
    const watched = filesOf(scene).map((entry): FileEntry => {
      const draw: FileEntry['draw'] = async (renderer) => {
        drawn.push(entry.path);
        const { body, ...rest } = await entry.draw(renderer);
        return { ...rest, body: entry.kind.name === 'rss' ? `${body} ` : body };
      };
      return Object.create(entry, { draw: { value: draw } });
    });
    const renderer = { ...drawing.options.renderer, version: 'another' };
    const result = await drawFiles(watched, manifest, { ...drawing.options, renderer });
    expect(drawn.toSorted()).toEqual(watched.map(({ path }) => path).toSorted());
    const written = result.files.flatMap((file) => (file.drawn === null ? [] : [file.path]));
    expect(written.toSorted()).toEqual(
      watched
        .filter(({ kind }) => kind.name === 'rss')
        .map(({ path }) => path)
        .toSorted(),
    );
    expect(result.filesDrawn).toBe(written.length);
    const after = Object.entries(manifestOf(result.files, manifest).files);
    expect(after.filter(([path, { key }]) => key === manifest.files[path]?.key)).toEqual([]);
  });
});

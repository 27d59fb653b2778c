import { describe, expect, it } from 'vitest';
import { isStatusError } from '../../src/errors.ts';
import type { Learned } from '../../src/model/observation.ts';
import type { PullMemory, Question } from '../../src/sync/connector.ts';
import { CONNECTORS, connectorOf } from '../../src/sync/connectors/index.ts';
import { contextOf, drive, failure, NOW, type Respond } from '../helpers/drive.ts';
import {
  type Answers,
  deepFreeze,
  loadCases,
  respondWith,
  shuffled,
  type UpstreamCase,
  walk,
  withValueAt,
} from '../helpers/upstream-cases.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? 1);
/** A list that says it holds more than it does is asked for more, which a case refuses with 404. */
const UNREADABLE = new Set(['UPSTREAM_SHAPE', 'UPSTREAM_REFUSED']);

const cases = loadCases();
/** Rows of our own database, which the store has checked: nothing in them is anybody else's. */
const isStored = ({ kind }: UpstreamCase): boolean => kind === 'checks';
/** Cases whose answers are data of others rather than files that an operator wrote. */
const dataCases = cases.filter(
  ({ answers, ...one }) =>
    !isStored({ answers, ...one }) &&
    !Object.entries(answers).some(([key, is]) => key.startsWith('FILE') && Array.isArray(is)),
);

async function learn(one: UpstreamCase, respond: Respond = respondWith(one.answers)) {
  const connector = connectorOf(one.kind);
  return drive(connector.pull(connector.optionsSchema.parse(one.options), contextOf()), respond);
}

/** What was learned, or the code it failed with; anything but one of our errors is thrown. */
async function outcome(one: UpstreamCase, answers: Answers): Promise<Learned | string> {
  try {
    return (await learn(one, respondWith(answers))).result;
  } catch (error) {
    if (isStatusError(error)) return error.code;
    throw error;
  }
}

function facts({ monitors, incidents, maintenances, announcements, pages, details }: Learned) {
  return { monitors, incidents, maintenances, announcements, pages, details };
}

/** Everything that looks better than in `base`, which nothing unreadable may do. */
function betterThan(base: Learned, now: Learned): string[] {
  const before = new Map(base.monitors.map((monitor) => [monitor.id, monitor]));
  const pages = new Map(base.pages.map((page) => [page.id, page]));
  const refused = now.problems.some((problem) => problem.kind === 'gate' || problem.kind === 'dropped');
  const open = base.incidents.filter((incident) => incident.endedAt === null);
  return [
    ...now.monitors.flatMap((monitor) => {
      const was = before.get(monitor.id);
      if (was === undefined) return [];
      const isGreener = monitor.state === 'operational' && was.state !== 'operational';
      return isGreener || (monitor.isPublic === true && was.isPublic !== true)
        ? [`${monitor.id} ${monitor.state}`]
        : [];
    }),
    ...now.pages.flatMap((page) => {
      const was = pages.get(page.id);
      const isOpener = page.access === 'public' && was !== undefined && was.access !== 'public';
      return isOpener ? [`page ${page.id}`] : [];
    }),
    ...open.flatMap((incident) => {
      const is = now.incidents.find((other) => other.id === incident.id);
      const isOver = is === undefined ? !refused && !now.stale.includes('incidents') : is.endedAt !== null;
      return isOver ? [`${incident.id} ended`] : [];
    }),
  ];
}

type Path = readonly (string | number)[];

interface Variant {
  readonly name: string;
  readonly answers: Answers;
}

/**
 * The answers with one value replaced, in turn. Below scale 1, items of a list in which a field means the same share its
 * replacements, so that each is tried in one of them.
 */
function* variantsOf(
  { answers, kind }: UpstreamCase,
  vary: (value: unknown, path: Path) => readonly unknown[],
): Generator<Variant> {
  const { words } = connectorOf(kind);
  const values = [...walk(answers)].flatMap(({ path, value }) => {
    const isWord = typeof value !== 'string' || Object.hasOwn(words, value.toLowerCase());
    const meaning = isWord && typeof value !== 'object' ? value : typeof value;
    const alike = JSON.stringify([path.map((part) => (typeof part === 'number' ? 0 : part)), meaning, value === null]);
    // Whole answers are taken away by the tests of errors.
    return path.length < 2 ? [] : [{ path, alike, replacements: vary(value, path) }];
  });
  const counts = new Map<string, number>();
  for (const { alike } of values) counts.set(alike, (counts.get(alike) ?? 0) + 1);
  const turns = new Map<string, number>();
  for (const { path, alike, replacements } of values) {
    const turn = turns.get(alike) ?? 0;
    turns.set(alike, turn + 1);
    const sharing = SCALE < 1 ? Math.min(counts.get(alike) ?? 1, replacements.length) : 1;
    for (const [which, replacement] of replacements.entries())
      if ((which - turn) % sharing === 0)
        yield { name: path.join('.'), answers: withValueAt(answers, path, replacement) as Answers };
  }
}

describe.each(CONNECTORS.map((connector) => [connector.kind, connector] as const))(
  'the connector %s',
  (kind, connector) => {
    it('has a case, and parses the options of each', () => {
      const options = loadCases(kind).map((one) => connector.optionsSchema.safeParse(one.options).error?.message);
      expect(options.length).toBeGreaterThan(0);
      expect(options.filter((message) => message !== undefined)).toEqual([]);
    });

    it('refuses an option that it does not know', () => {
      for (const one of loadCases(kind))
        expect(connector.optionsSchema.safeParse({ ...one.options, surprise: true }).success).toBe(false);
    });
  },
);

describe.each(cases.map((one) => [`${one.kind}/${one.name}`, one] as const))('%s', (_, one) => {
  it('projects to what was looked at once', async () => {
    const { result } = await learn(one);
    await expect(`${JSON.stringify(result, null, 2)}\n`).toMatchFileSnapshot(
      `../fixtures/upstream/${one.kind}/${one.name.replace('ok-', 'learned-')}.snap`,
    );
  });

  it('asks in absolute addresses, names each question, and puts secrets into headers and log-in bodies only', async () => {
    const { questions } = await learn(one);
    const secrets = [...walk(one.options), ...walk(one.answers)]
      .map(({ value }) => value)
      .filter((value): value is string => typeof value === 'string' && /secret|hunter2/.test(value))
      .map((value) => value.replace('Bearer ', ''));
    const isSafe = (question: Question<unknown>): boolean =>
      URL.canParse(question.url) &&
      /^(https:|file:|store:)/.test(question.url) &&
      question.name !== '' &&
      (question.url.startsWith('https:') || question.method === 'GET') &&
      !secrets.some((secret) => question.url.includes(secret) || question.name.includes(secret));
    expect(questions.length).toBeGreaterThan(0);
    expect(questions.filter((question) => !isSafe(question)).map(({ url }) => url)).toEqual([]);
  });

  it('keeps no secret in anything learned', async () => {
    const { result } = await learn(one);
    expect(JSON.stringify(result)).not.toMatch(/[a-z]+-secret-\d|hunter2|"s3"|Bearer t/);
  });

  it('leaves its input untouched', async () => {
    const { result } = await learn(one);
    const frozen = await learn(one, respondWith(deepFreeze(structuredClone(one.answers))));
    expect(facts(frozen.result)).toEqual(facts(result));
  });

  it('learns the same whatever the order of lists', async () => {
    const { result } = await learn(one);
    const other = await learn(one, respondWith(shuffled(one.answers) as Answers));
    expect(facts(other.result)).toEqual(facts(result));
  });

  it.skipIf(isStored(one))('reads numbers written as text', async () => {
    const { result } = await learn(one);
    const text = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(text);
      if (typeof value === 'number') return String(value);
      if (typeof value !== 'object' || value === null) return value;
      // Versions of file formats are no figures.
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, key === 'version' ? item : text(item)]),
      );
    };
    const other = await learn(one, respondWith(text(one.answers) as Answers));
    expect(facts(other.result)).toEqual(facts(result));
  });

  it.skipIf(isStored(one))(
    'fails with a code when every answer is empty, null, text, or a list or object of something else',
    async () => {
      for (const body of [
        '',
        null,
        'Welcome',
        42,
        [],
        [null],
        [[]],
        { error: 'no' },
        { data: 'no' },
        { success: false },
      ]) {
        const answers = Object.fromEntries(Object.keys(one.answers).map((key) => [key, body]));
        const result = await outcome(one, answers);
        // An empty list is an answer where lists come without an envelope.
        if (typeof result !== 'string')
          expect([result.monitors, result.pages, result.incidents.length]).toEqual([[], [], 0]);
        else expect(result).toBe('UPSTREAM_SHAPE');
      }
    },
  );
});

describe.each(dataCases.map((one) => [`${one.kind}/${one.name}`, one] as const))('%s, item by item', (_, one) => {
  it('shows a word that nobody knows as unknown, never as well, and never throws', async () => {
    const { result: base } = await learn(one);
    const { words } = connectorOf(one.kind);
    const variants = variantsOf(one, (value, path) =>
      typeof value === 'string' && Object.hasOwn(words, String(path.at(-1))) ? ['frobnicated'] : [],
    );
    const wrong: string[] = [];
    for (const variant of variants) {
      const { result } = await learn(one, respondWith(variant.answers));
      wrong.push(...betterThan(base, result).map((what) => `${variant.name}: ${what}`));
      for (const monitor of result.monitors) {
        const was = base.monitors.find(({ id }) => id === monitor.id)?.state;
        const isAllowed = monitor.state === 'unknown' || monitor.state === 'paused' || monitor.state === was;
        if (!isAllowed) wrong.push(`${variant.name}: ${monitor.id} became ${monitor.state}`);
      }
      for (const page of result.pages) {
        const was = base.pages.find(({ id }) => id === page.id)?.access;
        if (page.access !== was && page.access !== 'closed')
          wrong.push(`${variant.name}: ${page.id} is ${page.access}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('takes every wrong type for what it is: unknown, left out, or refused; never better, never a crash', async () => {
    const { result: base } = await learn(one);
    const { idField } = connectorOf(one.kind);
    const wrongly = (value: unknown, path: readonly (string | number)[]): unknown[] => {
      // A number is an id as good as a text.
      if (path.at(-1) === idField) return [{ not: 'an id' }, null, ''];
      if (typeof value === 'string') return [{ not: 'text' }, 12, null];
      if (typeof value === 'number') return ['not a number', null, -1.5, 1e300];
      if (typeof value === 'boolean') return ['perhaps', null];
      return value === null ? [42] : [null, 'neither', Array.isArray(value) ? { not: 'a list' } : [value]];
    };
    const wrong: string[] = [];
    for (const variant of variantsOf(one, wrongly)) {
      const result = await outcome(one, variant.answers);
      if (typeof result === 'string') {
        if (!UNREADABLE.has(result)) wrong.push(`${variant.name}: ${result}`);
      } else wrong.push(...betterThan(base, result).map((what) => `${variant.name}: ${what}`));
    }
    expect(wrong).toEqual([]);
  });

  it('survives a list that is missing, and items that come twice', async () => {
    const { result: base } = await learn(one);
    const { idField } = connectorOf(one.kind);
    const wrong: string[] = [];
    const variants = [
      ...variantsOf(one, (value) => (Array.isArray(value) ? [undefined] : [])),
      ...variantsOf(one, (value) => {
        const [first] = Array.isArray(value) ? value : [];
        if (!Array.isArray(value) || typeof first !== 'object' || first === null || !(idField in first)) return [];
        return [
          [...value, first],
          [...value, { ...first, name: 'Somebody else', title: 'Something else', status: 'active' }],
        ];
      }),
    ];
    for (const variant of variants) {
      const result = await outcome(one, variant.answers);
      if (typeof result === 'string') {
        if (!UNREADABLE.has(result)) wrong.push(`${variant.name}: ${result}`);
        continue;
      }
      wrong.push(...betterThan(base, result).map((what) => `${variant.name}: ${what}`));
      const lists: readonly (readonly { id: string }[])[] = [
        result.monitors,
        result.incidents,
        result.maintenances,
        result.pages,
      ];
      if (lists.some((list) => new Set(list.map(({ id }) => id)).size !== list.length))
        wrong.push(`${variant.name}: an id twice`);
    }
    expect(wrong).toEqual([]);
  });

  it('keeps a monitor of which nothing but its id can be read, as unknown', async () => {
    const { result: base } = await learn(one);
    const { idField } = connectorOf(one.kind);
    const items = [...walk(one.answers)].filter(({ value }) => value !== null && Object.hasOwn(Object(value), idField));
    const wrong: string[] = [];
    const kept = new Set<string>();
    for (const { path, value } of items) {
      const { [idField]: id, ...others } = value as Readonly<Record<string, unknown>>;
      const nonsense = Object.fromEntries(Object.keys(others).map((key) => [key, { not: 'it' }]));
      const result = await outcome(one, withValueAt(one.answers, path, { [idField]: id, ...nonsense }) as Answers);
      if (typeof result === 'string') continue;
      const isTold = result.problems.some(({ kind }) => kind === 'dropped');
      for (const was of base.monitors) {
        const is = result.monitors.find((monitor) => monitor.id === was.id)?.state;
        if (is === 'unknown' && was.state !== 'unknown') kept.add(was.id);
        // What held other monitors is told, and the snapshot refused.
        const isOther = is === undefined && isTold && was.id !== `up/${id}`;
        if (is !== was.state && is !== 'unknown' && !isOther) wrong.push(`${path.join('.')}: ${was.id} is ${is}`);
      }
    }
    expect(wrong).toEqual([]);
    const known = base.monitors.filter(({ state }) => state !== 'unknown').map(({ id }) => id);
    expect(known.filter((id) => !kept.has(id))).toEqual([]);
  });

  it('never takes an instant that cannot be', async () => {
    const { result } = await learn(one);
    const times = [...walk(result)].filter(({ path }) => /At$|^from$|^to$|^at$/.test(String(path.at(-1))));
    for (const { value } of times)
      if (typeof value === 'number') expect(value > 0 && value < NOW + 400 * 86_400_000).toBe(true);
  });
});

/** What is remembered after a first pass that learned `base`. */
function memoryOf({ incidents }: Learned): Partial<PullMemory> {
  const open = incidents.filter(({ endedAt }) => endedAt === null);
  const openStories = new Map(open.map((incident) => [incident.id.slice(incident.id.indexOf('/') + 1), incident]));
  return { openStories, openIncidents: new Set(openStories.keys()) };
}

describe.each(cases.map((one) => [`${one.kind}/${one.name}`, one] as const))('%s, one answer at a time', (_, one) => {
  const connector = connectorOf(one.kind);
  const learnWith = async (respond: Respond, memory: Partial<PullMemory>) => {
    try {
      return await drive(connector.pull(connector.optionsSchema.parse(one.options), contextOf(memory)), respond);
    } catch (error) {
      if (isStatusError(error)) return error.code;
      throw error;
    }
  };

  it.each(['UPSTREAM_FAILED', 'UPSTREAM_REFUSED'] as const)(
    'needs it, or does without it and says so; and nothing ends because of it: %s',
    async (code) => {
      const { result: base, questions } = await learn(one);
      const memory = memoryOf(base);
      const wrong: string[] = [];
      for (const name of new Set(questions.map((question) => question.name))) {
        const respond: Respond = (question, index) =>
          question.name === name ? failure(code) : respondWith(one.answers)(question, index);
        const driven = await learnWith(respond, memory);
        if (typeof driven === 'string') continue;
        const { result, missed } = driven;
        if (![...result.problems, ...missed].some(({ message }) => message.includes(code)))
          wrong.push(`${name}: its failure is not told`);
        const ids = new Set(result.monitors.map(({ id }) => id));
        const isKept = result.isPartial === true || result.stale.includes('monitors');
        if (!isKept && base.monitors.some(({ id }) => !ids.has(id))) wrong.push(`${name}: monitors are gone`);
        for (const { id, endedAt } of base.incidents)
          if (endedAt === null && result.incidents.some((is) => is.id === id && is.endedAt !== null))
            wrong.push(`${name}: ${id} ended`);
        for (const list of result.complete)
          for (const { id } of base[list.part])
            if (
              id.startsWith(list.prefix) &&
              list.since === null &&
              !list.ids.includes(id) &&
              !result.gone.includes(id)
            )
              wrong.push(`${name}: ${id} was taken back`);
      }
      expect(wrong).toEqual([]);
    },
  );
});

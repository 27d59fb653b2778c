import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { DAY_MS, HOUR_MS, toEpochMs, toIso } from '../../../src/model/time.ts';
import { markdown } from '../../../src/sync/connectors/markdown/connector.ts';
import { postJsonSchema } from '../../../src/sync/connectors/markdown/schema.ts';
import { type NewFile, newPostFile } from '../../../src/sync/connectors/markdown/written.ts';
import { contextOf, drive, NOW } from '../../helpers/drive.ts';

async function read(files: readonly NewFile[], timezone?: string): Promise<Learned> {
  const options = markdown.optionsSchema.parse({ path: '/srv/posts', ...(timezone === undefined ? {} : { timezone }) });
  return (await drive(markdown.pull(options, contextOf()), () => files)).result;
}
const post = (matter: string, body = '', name = 'a.md'): NewFile => ({ name, text: `---\n${matter}\n---\n${body}` });
const INCIDENT = 'type: incident\ntitle: T\nstarted: 2026-11-21T08:00:00Z\nmonitors: [edge/1]';
const WINDOW =
  'type: maintenance\ntitle: T\nstarts: 2026-11-22T01:00:00Z\nends: 2026-11-22T02:00:00Z\nmonitors: [edge/1]';
const NOTE = 'type: announcement\ntitle: T\nfrom: 2026-11-21T08:00:00Z';
const badRepeat = (found: string): string =>
  `a.md: repeat: expected a rule such as FREQ=WEEKLY;BYDAY=SU; got "${found}"`;
const told = ({ problems }: Learned): string[] => problems.map(({ place, message }) => `${place}: ${message}`);

describe('what is wrong with a post is told with its file and field', () => {
  it.each([
    [post('title: T'), ['a.md: type: missing; expected one of incident, maintenance, announcement, override']],
    [{ name: 'a.md', text: '# Hello' }, ['a.md: doesn’t start with front matter between two lines of ---']],
    [post('a: [1'), [expect.stringMatching(/^a\.md: front matter is not valid YAML: /)]],
    [
      post(`${INCIDENT}\ntitle: again`),
      [expect.stringMatching(/^a\.md: front matter is not valid YAML: Map keys must be unique/)],
    ],
    [
      post(INCIDENT.replace('2026-11-21T08:00:00Z', 'yesterday')),
      ['a.md: started: expected a time such as 2026-11-21T08:00:00Z; got "yesterday"'],
    ],
    [post(`${INCIDENT}\nimpct: major`), ['a.md: unknown key impct. Did you mean impact?']],
    [post(`${INCIDENT}\nimpact: huge`), ['a.md: impact: expected one of none, minor, major, critical; got "huge"']],
    [
      post(`${INCIDENT}\nstate: operational`),
      ['a.md: state: expected one of degraded, partial_outage, major_outage, none; got "operational"'],
    ],
    [
      post(INCIDENT.replace('[edge/1]', '[edge]')),
      ['a.md: monitors.0: expected <upstream id>/<external id>; got "edge"'],
    ],
    [
      post(INCIDENT.replace('monitors: [edge/1]', 'monitors: []')),
      ['a.md: monitors: set at least one of monitors, components or pages; otherwise it appears nowhere'],
    ],
    [post(`${INCIDENT}\nstatus: resolved`), ['a.md: ended: is required if status is resolved']],
    [post(INCIDENT, '## 2026-13-01T00:00 identified\n'), ['a.md: body: "## 2026-13-01T00:00" is not a time']],
    [
      post(INCIDENT, '## 2026-11-21T08:10Z fixed\n'),
      [expect.stringMatching(/^a\.md: body: "fixed" is not one of investigating, /)],
    ],
    [post(WINDOW.replace('T02', 'T00')), ['a.md: ends: must be after starts']],
    [post(`${WINDOW}\nrepeat: FREQ=SECONDLY`), [badRepeat('FREQ=SECONDLY')]],
    [post(`${WINDOW}\nrepeat: FREQ=WEEKLY;INTERVAL=0`), [badRepeat('FREQ=WEEKLY;INTERVAL=0')]],
    [post(`${WINDOW}\nrepeat: FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30`), [badRepeat('FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30')]],
    [
      post(`${WINDOW}\nrepeat: FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30`),
      ['a.md: repeat: never occurs after starts; check the rule'],
    ],
    [
      post(`${WINDOW}\ntimezone: Mars/Olympus`),
      ['a.md: timezone: expected an IANA time zone such as Europe/Berlin; got "Mars/Olympus"'],
    ],
    [post(`${NOTE}\nto: 2026-11-21T07:00:00Z`), ['a.md: to: must be after from']],
    [post(`${NOTE}\nlevel: loud`), ['a.md: level: expected one of info, warning, success; got "loud"']],
  ] as [NewFile, string[]][])('%#: %j', async (file, expected) => {
    const learned = await read([file]);
    expect(told(learned)).toEqual(expected);
    expect([...learned.incidents, ...learned.maintenances, ...learned.announcements]).toEqual([]);
  });

  it('and keeps what is known of its kind, without holding the others back', async () => {
    const good = [post(INCIDENT, '', 'i.md'), post(WINDOW, '', 'm.md'), post(NOTE, '', 'n.md')];
    const stale = async (bad: NewFile) => {
      const learned = await read([...good, { ...bad, name: 'bad.md' }]);
      expect(learned.incidents.length).toBe(1);
      return learned.stale;
    };
    expect(await stale(post(`${INCIDENT}\nimpact: huge`))).toEqual(['incidents']);
    expect(await stale(post(`${WINDOW}\nrepeat: often`))).toEqual(['maintenances']);
    expect(await stale(post(`${NOTE}\nlevel: loud`))).toEqual(['pages']);
    expect(await stale(post('title: T'))).toEqual(['incidents', 'maintenances', 'pages']);
    expect((await read(good)).stale).toEqual([]);
  });

  it('does not unfold aliases without bound', async () => {
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefgh'
        .split('')
        .map((key, index) => `${key}: &${key} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(',')}]`),
    ];
    expect(told(await read([post(bomb.join('\n'))]))).toEqual([
      'a.md: front matter is not valid YAML: too many aliases',
    ]);
  });
});

describe('incidents', () => {
  it('are open until an update or the front matter says otherwise', async () => {
    const body = '## 2026-11-21T08:10:00Z identified\nFound.\n## 2026-11-21T09:00:00Z resolved\nDone.\n';
    const one = async (matter: string, text = '') => (await read([post(matter, text)])).incidents[0];
    expect(await one(INCIDENT)).toMatchObject({ status: 'investigating', endedAt: null, updates: [] });
    expect(await one(INCIDENT, body)).toMatchObject({ status: 'resolved', endedAt: Date.UTC(2026, 10, 21, 9) });
    expect(await one(`${INCIDENT}\nstatus: monitoring`, body)).toMatchObject({ status: 'monitoring', endedAt: null });
    expect(await one(`${INCIDENT}\nended: 2026-11-21T08:30:00Z`)).toMatchObject({
      status: 'resolved',
      endedAt: Date.UTC(2026, 10, 21, 8, 30),
    });
    expect(await one(`${INCIDENT}\nended: 2026-11-21T07:30:00Z`)).toMatchObject({ endedAt: Date.UTC(2026, 10, 21, 8) });
    expect(await one(`${INCIDENT}\nstatus: postmortem`, body)).toMatchObject({
      status: 'postmortem',
      endedAt: Date.UTC(2026, 10, 21, 9),
    });
  });

  it('have not heard yet what is dated later', async () => {
    const later = '## 2026-11-21T08:10:00Z identified\nFound.\n## 2026-11-21T23:00:00Z resolved\nDone.\n';
    const one = async (matter: string, text = '') => (await read([post(matter, text)])).incidents[0];
    expect(await one(INCIDENT, later)).toMatchObject({ status: 'identified', endedAt: null });
    expect(await one(`${INCIDENT}\nended: 2026-11-21T22:00:00Z`)).toMatchObject({
      status: 'investigating',
      endedAt: Date.UTC(2026, 10, 21, 22),
    });
    expect(await one(`${INCIDENT}\nstatus: resolved\nended: 2026-11-21T22:00:00Z`, later)).toMatchObject({
      status: 'identified',
      endedAt: Date.UTC(2026, 10, 21, 22),
    });
    const said = '## 2026-11-21T09:00:00Z resolved\nDone.\n';
    expect(await one(`${INCIDENT}\nended: 2026-11-21T22:00:00Z`, said)).toMatchObject({
      status: 'resolved',
      endedAt: Date.UTC(2026, 10, 21, 9),
    });
  });

  it('count in uptime unless they say that they do not', async () => {
    const one = async (matter: string) => (await read([post(matter)])).incidents[0];
    expect(await one(INCIDENT)).not.toHaveProperty('affectsUptime');
    expect(await one(`${INCIDENT}\naffects_uptime: false`)).toMatchObject({ affectsUptime: false });
  });

  it('are told as a whole, drafts left out, unless a file of theirs cannot be read', async () => {
    const complete = async (...files: NewFile[]) =>
      (await read(files)).complete.map(({ part, ids }) => [part, ids.join()]);
    const named = (name: string, matter: string) => ({ ...post(matter), name });
    const [a, b, c] = [named('a.md', INCIDENT), named('b.md', `${INCIDENT}\ndraft: true`), named('c.md', WINDOW)];
    expect(await complete(a, b, c)).toEqual([
      ['incidents', 'up/a'],
      ['maintenances', 'up/c'],
    ]);
    expect(await complete(named('d.md', `${INCIDENT}\nstatus: over`), c)).toEqual([['maintenances', 'up/c']]);
    expect(await complete(c, named('d.md', 'title: T'))).toEqual([]);
  });

  it('order their updates by time, whatever the order of the file', async () => {
    const body = 'First words.\n\n## 2026-11-21T09:00:00Z monitoring\nB\n\n## 2026-11-21T08:10:00Z\nA\n';
    const { incidents } = await read([post(INCIDENT, body)]);
    expect(incidents[0]?.updates.map(({ status, body: text }) => [status, text])).toEqual([
      ['investigating', 'First words.'],
      [null, 'A'],
      ['monitoring', 'B'],
    ]);
    expect(incidents[0]?.status).toBe('monitoring');
  });

  it('show on the pages they name, on those of their components, or wherever their monitors are', async () => {
    const pages = async (matter: string) => (await read([post(matter)])).incidents[0]?.pages;
    const bare = INCIDENT.replace('monitors: [edge/1]', '');
    expect(await pages(INCIDENT)).toBeNull();
    expect(await pages(`${bare}components: [acme/api, acme/web, svc/1/10]`)).toEqual(['config/acme', 'svc/1']);
    expect(await pages(`${INCIDENT}\npages: [acme, svc/1]`)).toEqual(['config/acme', 'svc/1']);
  });
});

describe('a window with a zone of its own', () => {
  it('reads the times without an offset in it', async () => {
    const matter =
      'type: maintenance\ntitle: T\nstarts: 2026-11-22 10:00:00\nends: 2026-11-22T02:00:00Z\nmonitors: [edge/1]';
    expect(told(await read([post(matter)]))).toEqual(['a.md: ends: must be after starts']);
    const { maintenances } = await read([post(`${matter}\ntimezone: Asia/Tokyo`)]);
    expect(maintenances.map(({ startsAt, endsAt }) => [startsAt, endsAt])).toEqual([
      [Date.UTC(2026, 10, 22, 1), Date.UTC(2026, 10, 22, 2)],
    ]);
  });
});

describe('repeated windows', () => {
  const windows = async (
    rule: string,
    zone = 'Europe/Berlin',
    first = '2026-10-18 02:30:00',
    last = '2026-10-18 03:30:00',
  ) => {
    const matter = `type: maintenance\ntitle: T\nstarts: ${first}\nends: ${last}\nrepeat: ${rule}\nmonitors: [edge/1]`;
    const { maintenances, problems } = await read([post(matter)], zone);
    expect(problems).toEqual([]);
    return (maintenances[0]?.repeats?.windows ?? []).map(({ from, to }) => [
      new Date(from).toISOString().slice(0, 16),
      to - from,
    ]);
  };

  it('keep to the clock of their zone and last as long as the first, over a change of clocks', async () => {
    expect((await windows('FREQ=WEEKLY;COUNT=3')).map(([at, ms]) => [at, ms])).toEqual([
      ['2026-10-18T00:30', HOUR_MS],
      ['2026-10-25T00:30', HOUR_MS],
      ['2026-11-01T01:30', HOUR_MS],
    ]);
  });

  it('are told from 90 days ago to 90 days ahead', async () => {
    const daily = await windows('FREQ=DAILY', 'UTC', '2020-01-01 05:00:00', '2020-01-01 05:10:00');
    expect(daily.length).toBe(180);
    expect(daily[0]?.[0]).toBe(new Date(NOW - 89 * DAY_MS).toISOString().slice(0, 10).concat('T05:00'));
  });

  it.each([
    ['FREQ=MONTHLY;BYDAY=1SU', ['2026-11-01T02:30', '2026-12-06T02:30', '2027-01-03T02:30', '2027-02-07T02:30']],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', ['2026-10-31T02:30', '2026-11-30T02:30', '2026-12-31T02:30', '2027-01-31T02:30']],
    ['FREQ=WEEKLY;INTERVAL=4;UNTIL=20261231', ['2026-10-18T02:30', '2026-11-15T02:30', '2026-12-13T02:30']],
    ['FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24', ['2026-12-24T02:30']],
  ])('%s', async (rule, expected) => {
    expect((await windows(rule, 'UTC')).map(([at]) => at)).toEqual(expected);
  });

  const repeated = async (rule: string, now: number) => {
    const options = markdown.optionsSchema.parse({ path: '/srv/posts' });
    const context = { ...contextOf(), now: toEpochMs(now) };
    const { result } = await drive<Learned>(markdown.pull(options, context), () => [
      post(`${WINDOW}\nrepeat: ${rule}`, 'Short.'),
    ]);
    return result;
  };

  it('are one maintenance with one id, at the window that runs or comes next', async () => {
    const FIRST = Date.UTC(2026, 10, 22, 1);
    for (const [now, startsAt] of [
      [NOW, FIRST],
      [FIRST + HOUR_MS / 2, FIRST],
      [FIRST + HOUR_MS, FIRST + 7 * DAY_MS],
      [FIRST + 20 * DAY_MS, FIRST + 21 * DAY_MS],
    ] as const) {
      const { maintenances } = await repeated('FREQ=WEEKLY', now);
      expect(maintenances).toMatchObject([
        { id: 'up/a', startsAt, endsAt: startsAt + HOUR_MS, body: 'Short.', updates: [] },
      ]);
    }
  });

  it('are told also when the next is far away, and no more but not taken back when there is none', async () => {
    const yearly = await repeated('FREQ=YEARLY', Date.UTC(2027, 5, 1));
    expect(yearly.maintenances).toMatchObject([
      { startsAt: Date.UTC(2027, 10, 22, 1), repeats: { windows: [{ from: Date.UTC(2027, 10, 22, 1) }] } },
    ]);
    const over = await repeated('FREQ=DAILY;COUNT=2', Date.UTC(2027, 5, 1));
    expect(over.maintenances).toEqual([]);
    expect(over.complete).toContainEqual({ part: 'maintenances', prefix: 'up/', since: null, ids: ['up/a'] });
  });

  it.each([
    ['FREQ=DAILY', { every: 'day', interval: 1, weekdays: [] }],
    ['FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO', { every: 'week', interval: 2, weekdays: [1, 7] }],
    ['FREQ=MONTHLY;BYDAY=1SU', { every: 'month', interval: 1, weekdays: [] }],
    ['FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24', { every: 'year', interval: 1, weekdays: [] }],
  ])('%s says how often in parts that can be put in words', async (rule, words) => {
    const { maintenances } = await repeated(rule, NOW);
    expect(maintenances[0]?.repeats).toMatchObject({ rule, ...words });
  });
});

describe('files that Pharos writes', () => {
  const titles = fc.oneof(
    fc.string({ minLength: 1, maxLength: 80, unit: 'grapheme' }),
    fc.constantFrom('a: b', '- x', '"', "'", '#1', '{', 'yes', '12', 'null', '---', 'ä é', '🌊', 'a\nb'),
  );
  const instants = fc.integer({ min: Date.UTC(2001), max: Date.UTC(2099) }).map(toEpochMs);
  const bodies = fc
    .string({ maxLength: 200, unit: 'grapheme' })
    .filter((text) => !/^##\s+\d{4}-/m.test(text) && !/\r/.test(text));

  it('are read back as they were meant, whatever the title and the words', async () => {
    await fc.assert(
      fc.asyncProperty(titles, instants, bodies, async (title, startedAt, body) => {
        const fields = { title, monitors: ['edge/1'] };
        const endsAt = toEpochMs(startedAt + HOUR_MS);
        const [begins, ends] = [toIso(startedAt), toIso(endsAt)];
        const files = [
          newPostFile(
            {
              ...{ type: 'incident', ...fields, started: begins },
              ...{ impact: 'major', state: 'partial_outage', status: 'identified' },
            },
            body,
          ),
          newPostFile({ type: 'maintenance', ...fields, starts: begins, ends }, body),
          newPostFile({ type: 'announcement', title, from: begins, to: ends, level: 'warning', pages: ['acme'] }, body),
        ];
        const learned = await read(files.map((file, index) => ({ ...file, name: `${index}-${file.name}` })));
        expect(learned.problems).toEqual([]);
        expect(learned.incidents).toMatchObject([
          { title, startedAt, impact: 'major', status: 'identified', affectedState: 'partial_outage' },
        ]);
        expect(learned.incidents[0]?.updates.map((update) => update.body)).toEqual(
          body.trim() === '' ? [] : [body.trim()],
        );
        expect(learned.maintenances).toMatchObject([{ title, startsAt: startedAt, endsAt }]);
        expect(learned.announcements).toMatchObject([
          { title, level: 'warning', from: startedAt, to: endsAt, pages: ['acme'] },
        ]);
        for (const { name } of files) expect(name).toMatch(/^\d{4}-\d\d-\d\d-[a-z0-9-]+\.md$/);
      }),
      { numRuns: 200, seed: 7 },
    );
  });

  it('are named by day and title', () => {
    const name = (title: string) =>
      newPostFile({ type: 'incident', title, started: toIso(NOW), monitors: ['edge/1'] }).name;
    expect(name('API errors: 5xx!')).toBe('2026-11-21-api-errors-5xx.md');
    expect(name('Überall Störung')).toBe('2026-11-21-uberall-storung.md');
    expect(name('日本')).toBe('2026-11-21-incident.md');
  });

  it('say what was given and nothing else', () => {
    expect(
      newPostFile(
        {
          type: 'maintenance',
          title: 'Upgrade',
          starts: toIso(NOW),
          ends: toIso(toEpochMs(NOW + HOUR_MS)),
          repeat: 'FREQ=WEEKLY',
          timezone: undefined,
          pages: ['acme'],
        },
        'Short.',
      ).text,
    ).toBe(
      '---\ntype: maintenance\ntitle: Upgrade\nstarts: 2026-11-21T09:13:00.000Z\nends: 2026-11-21T10:13:00.000Z\nrepeat: FREQ=WEEKLY\npages:\n  - acme\n---\n\nShort.\n',
    );
  });
});

describe('the schema for editors', () => {
  it('knows the four types, their keys and their sentences', () => {
    const schema = postJsonSchema() as { oneOf?: Row[]; anyOf?: Row[] };
    const types = schema.oneOf ?? schema.anyOf ?? [];
    expect(types.map((type) => type.properties.type.const)).toEqual([
      'incident',
      'maintenance',
      'announcement',
      'override',
    ]);
    expect(types.map((type) => type.required)).toEqual([
      ['type', 'title', 'started'],
      ['type', 'title', 'starts', 'ends'],
      ['type', 'title', 'from'],
      ['type', 'title', 'component', 'state', 'from'],
    ]);
    expect(types[0]?.properties['impact']).toMatchObject({
      enum: ['none', 'minor', 'major', 'critical'],
      default: 'minor',
    });
    expect(types[1]?.properties['repeat']?.description).toContain('RFC 5545');
  });

  interface Row {
    readonly properties: Readonly<Record<string, { const?: string; description?: string }>> & {
      readonly type: { const: string };
    };
    readonly required: readonly string[];
  }
});

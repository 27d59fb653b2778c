import { describe, expect, it } from 'vitest';
import { ReportDocumentSchema, StateDocumentSchema } from '../../../scripts/json-shapes.ts';
import { DAY_MS, HOUR_MS, toEpochMs } from '../../../src/model/index.ts';
import { csvText } from '../../../src/publish/files/feed-text.ts';
import { reportDocument, reportRows } from '../../../src/views/json/report-data.ts';
import { jsonText, stateDocument } from '../../../src/views/json/state-json.ts';
import { ago, componentModel, incident, maintenance, pageModel } from '../../helpers/page-model.ts';
import { calm, empty, manyComponents, outage, stale } from '../../helpers/page-scenes.ts';
import { HOSTILE_TEXTS, hostilePage } from './hostile.ts';

/** RFC 4180, written apart from what it reads. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  let cell = '';
  let isQuoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text[index + 1] === '"') {
        cell += '"';
        index += 1;
      } else isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === ',' || (character === '\r' && text[index + 1] === '\n')) {
      rows.at(-1)?.push(cell);
      cell = '';
      if (character === '\r') {
        index += 1;
        rows.push([]);
      }
    } else cell += character;
  }
  rows.pop();
  return rows;
}

describe('the report of a month', () => {
  it('is what its schema says, for every kind of page and month', () => {
    for (const make of [calm, outage, stale, empty, () => manyComponents(50)])
      for (const month of ['2026-11', '2026-10', '2025-10', '2024-02'])
        ReportDocumentSchema.parse(reportDocument(make(), month));
  });

  it('counts a past month to its end and the current one to the present', () => {
    const october = reportDocument(calm(), '2026-10');
    expect([october.from, october.to, october.is_over]).toEqual([
      '2026-09-30T22:00:00.000Z',
      '2026-10-31T23:00:00.000Z',
      true,
    ]);
    const november = reportDocument(calm(), '2026-11');
    expect([november.to, november.is_over]).toEqual(['2026-11-21T08:31:00.000Z', false]);
  });

  it('counts of an outage that reaches over the end of a month only its part', () => {
    const endOfOctober = Date.parse('2026-10-31T23:00:00Z');
    const startedAt = toEpochMs(endOfOctober - HOUR_MS);
    const endedAt = toEpochMs(endOfOctober + 3 * HOUR_MS);
    const component = componentModel({
      troubles: [{ state: 'major_outage', startedAgoMs: ago(0) - startedAt, forMs: 4 * HOUR_MS }],
    });
    const model = pageModel({ components: [component], incidents: [incident({ startedAt, endedAt })] });
    const october = reportDocument(model, '2026-10');
    const november = reportDocument(model, '2026-11');
    expect(october.components[0]?.uptime.seconds.major_outage).toBe(3_600);
    expect(november.components[0]?.uptime.seconds.major_outage).toBe(3 * 3_600);
    expect([october.incidents[0]?.seconds, november.incidents[0]?.seconds]).toEqual([3_600, 3 * 3_600]);
    expect([october.components[0]?.incident_count, november.components[0]?.incident_count]).toEqual([1, 1]);
    expect(reportDocument(model, '2026-09').incidents).toEqual([]);
  });

  it('lists what touches the month, oldest first', () => {
    const model = pageModel({
      incidents: [incident({ slug: 'b', title: 'b' }), incident({ slug: 'a', title: 'a', startedAt: ago(2 * DAY_MS) })],
      maintenances: [maintenance()],
    });
    const report = reportDocument(model, '2026-11');
    expect(report.incidents.map(({ title }) => title)).toEqual(['a', 'b']);
    expect(report.maintenances.map(({ title, seconds }) => [title, seconds])).toEqual([]);
  });

  it('as rows says the same as JSON', () => {
    const report = reportDocument(outage(), '2026-11');
    const rows = parseCsv(csvText(reportRows(report)));
    const [head, ...lines] = rows;
    expect(rows.every((row) => row.length === head?.length)).toBe(true);
    expect(lines).toHaveLength(report.components.length + 1);
    for (const [index, component] of report.components.entries()) {
      const row = Object.fromEntries((head ?? []).map((name, at) => [name, lines[index]?.[at]]));
      expect(row).toMatchObject({
        month: '2026-11',
        component_id: component.id,
        component: component.name,
        uptime_ratio: String(component.uptime.uptime_ratio),
        major_outage_seconds: String(component.uptime.seconds.major_outage),
        incidents: String(component.incident_count),
      });
    }
  });
});

describe('JSON', () => {
  it('has no half characters, which strict parsers refuse, and nothing else changed', () => {
    const text = jsonText({ a: ['x\ud800y', 'ok \u{1f525}'], b: 1.5, c: null, d: true });
    expect(text).toBe('{"a":["x\ufffdy","ok \u{1f525}"],"b":1.5,"c":null,"d":true}\n');
    expect(text).not.toContain('\\ud800');
  });
});

describe('cells of CSV', () => {
  it('come back as they were through an independent reader', () => {
    const cells = ['plain', 'a,b', '"q"', 'line\r\nbreak', '', ' padded ', 'ünïcode 日本', '0'];
    expect(parseCsv(csvText([cells, ['x']]))).toEqual([cells, ['x']]);
    expect(csvText([[1.5, null, -3]])).toBe('1.5,,-3\r\n');
  });

  it('that a spreadsheet would compute begin with an apostrophe', () => {
    for (const formula of ['=1+1', '+1', '-1+1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '\n@x', '＝1', '"=1"'.slice(1)]) {
      const [[cell] = []] = parseCsv(csvText([[formula]]));
      expect(cell).toBe(`'${formula}`);
    }
  });

  it('hold whatever an upstream calls a component', () => {
    for (const text of HOSTILE_TEXTS) {
      const rows = parseCsv(csvText(reportRows(reportDocument(hostilePage(text), '2026-11'))));
      expect(rows.every((row) => row.length === 15)).toBe(true);
      for (const cell of rows.flat()) expect(cell).not.toMatch(/^\s*[=+@]|^\s*-(?![\d.])/);
    }
  });
});

describe('api/state.json', () => {
  it('is what its schema says, for every kind of page', () => {
    for (const make of [calm, outage, stale, empty, () => manyComponents(50)])
      StateDocumentSchema.parse(stateDocument(make()));
    for (const text of HOSTILE_TEXTS) StateDocumentSchema.parse(stateDocument(hostilePage(text)));
  });

  it('says the sentence of the page, what is open, what is planned, and how long to believe it', () => {
    const document = stateDocument(outage());
    expect(document).toMatchObject({
      state: 'partial_outage',
      sentence: 'Partial outage',
      as_of: '2026-11-21T08:31:00.000Z',
      stale_after: '2026-11-21T08:48:00.000Z',
      stale: false,
    });
    expect(document.open_incidents.map(({ status }) => status)).toEqual(['identified']);
    expect(document.maintenances.map(({ status }) => status).toSorted()).toEqual(['in_progress', 'scheduled']);
  });
});

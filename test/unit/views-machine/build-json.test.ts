import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/model/index.ts';
import { pageFiles } from '../../../src/publish/files/files.ts';
import { buildDocument } from '../../../src/views/json/state-json.ts';
import { calm, outage } from '../../helpers/page-scenes.ts';

describe('build.json', () => {
  it('is in every release, gated ones too', () => {
    for (const access of ['public', 'password', 'email-domain'] as const)
      expect(pageFiles(calm({ definition: { access } })).map(({ path }) => path)).toContain('build.json');
  });

  it('gives versions, instants and counts', () => {
    const model = outage();
    const document = buildDocument(model, '1.2.3');
    expect(document.versions).toEqual({ pharos: '1.2.3', uptime_formula: 3 });
    expect(document.counts).toMatchObject({ components: model.components.length, incidents: model.incidents.length });
    expect(document.snapshots).toHaveLength(model.sources.length);
    for (const { monitors_at } of document.snapshots)
      expect(monitors_at === null || monitors_at <= document.as_of).toBe(true);
  });

  it('names no upstream, monitor or target', () => {
    const model = outage();
    const text = JSON.stringify(buildDocument(model, '1.2.3'));
    for (const { upstreamId } of model.sources) expect(text).not.toContain(`"${upstreamId}`);
    for (const { definition, name } of model.components) {
      expect(text).not.toContain(definition.monitor ?? 'no monitor');
      expect(text).not.toContain(name);
    }
  });

  it('is the same text for the same model, and another when an upstream falls silent', () => {
    const model = outage();
    expect(JSON.stringify(buildDocument(model, '1'))).toBe(JSON.stringify(buildDocument(structuredClone(model), '1')));
    const silent = {
      ...model,
      sources: model.sources.map((source) => ({ ...source, monitorsAt: toEpochMs(0), isMonitorsStale: true })),
    };
    expect(buildDocument(silent, '1').snapshots[0]).toMatchObject({
      stale: true,
      monitors_at: '1970-01-01T00:00:00.000Z',
    });
  });
});

import { describe, expect, it } from 'vitest';
import { readSchedules } from '../../../src/app/live-config.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { MINUTE_MS, toEpochMs } from '../../../src/model/time.ts';
import { CONNECTORS } from '../../../src/sync/connectors/index.ts';
import { nextRunAfter } from '../../../src/sync/schedule.ts';

function schedules(upstreams: readonly string[], schedule = '* * * * *'): Record<string, string> {
  const text = `
site: { url: https://status.acme.example }
schedule: "${schedule}"
upstreams:
${upstreams.map((entry, index) => `  - { id: u${index}, ${entry} }`).join('\n')}
`;
  return Object.fromEntries(readSchedules(parseConfig({ text, file: null, folder: '/' }, CONNECTORS, {})));
}
const vendor = (path: string, more = '') => `kind: statuspage, url: "https://status.cloud.example/${path}"${more}`;

describe('the schedules of upstreams', () => {
  it("are their own, else the site's", () => {
    expect(
      schedules([
        'kind: gatus, url: https://a.example',
        'kind: gatus, url: https://a.example, schedule: "*/5 * * * *"',
        vendor(''),
      ]),
    ).toEqual({ u0: '* * * * *', u1: '*/5 * * * *', u2: '* * * * *' });
  });

  it('let pages of one host take turns, so that it is asked once a minute', () => {
    const entries = [vendor('a'), vendor('b'), vendor('c'), 'kind: statuspage, url: https://other.example'];
    const made = schedules(entries);
    expect(made).toEqual({ u0: '0-59/3 * * * *', u1: '1-59/3 * * * *', u2: '2-59/3 * * * *', u3: '* * * * *' });
    const start = toEpochMs(Date.UTC(2026, 10, 21, 9));
    const asked = ['u0', 'u1', 'u2'].flatMap((id) => {
      const instants: number[] = [];
      for (let at = start; instants.length < 40; at = nextRunAfter(made[id] ?? '', at)) instants.push(at);
      return instants.slice(1);
    });
    expect(new Set(asked.map((at) => at / MINUTE_MS)).size).toBe(asked.length);
  });

  it('leave alone what asks seldom enough, or has a schedule of its own', () => {
    expect(schedules([vendor('a'), vendor('b')], '*/5 * * * *')).toEqual({ u0: '*/5 * * * *', u1: '*/5 * * * *' });
    expect(schedules([vendor('a', ', schedule: "* * * * *"'), vendor('b')])).toEqual({
      u0: '* * * * *',
      u1: '* * * * *',
    });
  });
});

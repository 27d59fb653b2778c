import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { check } from '../../../src/schema/issue-words.ts';
import { connectorOf } from '../../../src/sync/connectors/index.ts';
import { contextOf, drive, NOW } from '../../helpers/drive.ts';

const terraform = connectorOf('terraform');
const FILE = `
resource "svc_http_monitor" "shop" {
  name        = "Shop"
  url         = "https://shop.example/health"
  periodicity = "30s"
  method      = "POST"
  body        = "{}"
  active      = true
  public      = true
  regions     = ["fly-ams", "iad"]
  headers {
    key   = "X-Key"
    value = "abc"
  }
  status_code_assertions {
    target     = 404
    comparator = "eq"
  }
}
resource "svc_tcp_monitor" "db" {
  name        = "Database"
  uri         = "db.example:5432"
  periodicity = "1m"
}
resource "svc_dns_monitor" "names" {
  name        = "Names"
  uri         = "shop.example"
  periodicity = "10m"
  active      = true
  record_assertions {
    record     = "A"
    target     = "192.0.2.1"
    comparator = "eq"
  }
}
variable "key" {}
resource "svc_http_monitor" "hidden" {
  name        = "Hidden"
  url         = "https://shop.example/\${var.key}"
  periodicity = "30s"
  active      = true
}
`;

const options = (more: object) => terraform.optionsSchema.parse({ path: '/srv/infra', ...more });
const respond = (results: readonly object[]) => (question: { readonly url: string }) =>
  question.url.startsWith('store:') ? { results, places: ['local'] } : [{ name: 'a.tf', text: FILE }];

async function pull(more: object, results: readonly object[] = []): Promise<Learned> {
  return (await drive(terraform.pull(options(more) as never, contextOf()), respond(results))).result;
}

describe('resources with checks: true', () => {
  it('are checks with all of their fields', async () => {
    const list = terraform.checks?.(options({ checks: true }) as never, contextOf());
    if (list === undefined) throw new Error('it has no checks');
    const { result } = await drive(list, respond([]));
    const shown = result.map((check) =>
      check.type !== 'http'
        ? check
        : { ...check, headers: check.headers.map(({ key, value }) => [key, String(value), value.reveal()]) },
    );
    expect(shown.toSorted((a, b) => b.type.localeCompare(a.type))).toMatchObject([
      { id: 'tcp_monitor.db', type: 'tcp', uri: 'db.example:5432', active: false },
      {
        ...{ id: 'http_monitor.shop', type: 'http', url: 'https://shop.example/health', periodicity: '30s' },
        ...{ method: 'POST', body: '{}', active: true, public: true, regions: ['fly-ams', 'iad'], retry: 3 },
        headers: [['X-Key', '***', 'abc']],
        status_code_assertions: [{ target: 404, comparator: 'eq' }],
      },
      {
        id: 'dns_monitor.names',
        type: 'dns',
        record_assertions: [{ record: 'A', target: '192.0.2.1', comparator: 'eq' }],
      },
    ]);
  });

  it('are in the state that was found; what cannot be checked is unknown and named', async () => {
    const { monitors, problems } = await pull({ checks: true }, [
      {
        ...{ upstream: 'up', name: 'http_monitor.shop', place: 'local', at: NOW - 5_000, state: 'major_outage' },
        ...{
          since: NOW - 60_000,
          foundAt: NOW - 60_000,
          fault: 'status 500',
          totalMs: null,
          certificateEndsAt: null,
          recent: [],
          usualMs: [],
        },
      },
    ]);
    expect(Object.fromEntries(monitors.map(({ id, state }) => [id, state]))).toEqual({
      'up/http_monitor.shop': 'major_outage',
      'up/tcp_monitor.db': 'paused',
      'up/dns_monitor.names': 'unknown',
      'up/http_monitor.hidden': 'unknown',
    });
    expect(problems.map(({ place, message }) => `${place}: ${message}`)).toEqual([
      'svc_http_monitor.hidden: it isn’t checked: only Terraform knows url. Use a state file, which has these values',
      expect.stringContaining('regions fly-ams: no running node has this place'),
      expect.stringContaining('regions iad: no running node has this place'),
    ]);
  });

  it('are read as before without it, and ask nothing of the database', async () => {
    const { questions, result } = await drive(terraform.pull(options({}) as never, contextOf()), respond([]));
    expect(questions.some(({ url }) => url.startsWith('store:'))).toBe(false);
    expect(result.monitors.find(({ id }) => id === 'up/http_monitor.shop')?.state).toBe('unknown');
    expect(check(terraform.optionsSchema, { path: 'a', checks: true, monitorUpstream: 'svc' })).toMatchObject({
      success: false,
      faults: [{ path: 'checks' }],
    });
  });
});

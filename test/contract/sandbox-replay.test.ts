import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadExchanges, type Replay, replayKey, startReplay } from '../helpers/replay.ts';

const exchanges = await loadExchanges();

describe('the replay of recorded exchanges', () => {
  let replay: Replay;
  beforeAll(async () => {
    replay = await startReplay({ exchanges: await loadExchanges('004', '024', '028', '033', '139'), port: 0 });
  });
  afterAll(() => replay.stop());

  const ask = (name: string, body: string, key = 'read'): Promise<Response> =>
    fetch(`${replay.rpcUrl}/openstatus.monitor.v1.MonitorService/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-openstatus-key': replayKey(key) },
      body,
    });

  it('knows all sixty-one, each with a status and a request line', () => {
    expect(exchanges).toHaveLength(61);
    for (const { request, response } of exchanges) {
      expect(request.method).toMatch(/^(GET|POST|PUT|DELETE)$/);
      expect(request.path).toMatch(/^\/(rpc|v1)\//);
      expect(response.status).toBeGreaterThanOrEqual(200);
      expect(response.body).not.toBe('');
    }
  });

  it('answers with the status, headers and body of the recording, the one named last where two fit', async () => {
    const response = await ask('ListMonitors', '{ }');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ totalSize: 4, httpMonitors: [{ id: '1' }, { id: '2' }] });
    expect(replay.used).toContain('024-listmonitors-full');
  });

  it('compares a body that is not JSON as text', async () => {
    expect((await ask('ListMonitors', 'not json')).status).toBe(400);
  });

  it('answers requests without a body, by their path and query', async () => {
    const headers = { 'x-openstatus-key': replayKey('write') };
    const gone = await fetch(`${replay.restUrl}/api-key/2`, { method: 'DELETE', headers });
    expect([gone.status, await gone.text()]).toEqual([404, '404 Not Found']);
    const query = 'connect=v1&encoding=json&message=%7B%7D';
    const read = await fetch(`${replay.rpcUrl}/openstatus.monitor.v1.MonitorService/ListMonitors?${query}`, {
      headers: { 'x-openstatus-key': replayKey('read') },
    });
    expect(read.status).toBe(200);
  });

  it('tells which requests were never recorded', async () => {
    expect((await ask('ListMonitors', '{"limit":3}')).status).toBe(404);
    expect((await ask('ListMonitors', '{}', 'stranger')).status).toBe(404);
    expect((await ask('GetMonitor', '{}')).status).toBe(404);
    expect(replay.unmatched).toEqual([
      'POST /rpc/openstatus.monitor.v1.MonitorService/ListMonitors {"limit":3}',
      'POST /rpc/openstatus.monitor.v1.MonitorService/ListMonitors {}',
      'POST /rpc/openstatus.monitor.v1.MonitorService/GetMonitor {}',
    ]);
  });
});

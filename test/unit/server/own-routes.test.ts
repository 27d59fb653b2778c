import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/model/time.ts';
import { Secret } from '../../../src/schema/secret.ts';
import type { OwnRequest } from '../../../src/server/answer.ts';
import { createOperatorGuard, tokenOperators } from '../../../src/server/operators/operator.ts';
import { createOwnRoutes } from '../../../src/server/own-routes.ts';

async function answered(
  over: Partial<Parameters<typeof createOwnRoutes>[0]>,
  request: Partial<OwnRequest>,
): Promise<[number, unknown]> {
  const routes = createOwnRoutes({
    guard: createOperatorGuard(() => tokenOperators({ token: new Secret('right'), tokens: [], roles: {} })),
    canRun: true,
    now: () => toEpochMs(0),
    submit: () => ({ id: 'run-1', report: Promise.resolve({ hasFailed: false }) }),
    hasPage: () => true,
    hooks: async () => ({ status: 409, headers: {}, body: '{}' }),
    unreadiness: async () => [],
    staleness: async () => [],
    metrics: async () => ({ text: '', contentType: 'text/plain' }),
    ops: async () => null,
    api: async () => null,
    oidc: async () => null,
    intake: async () => ({ status: 401, headers: {}, body: '{}' }),
    waitMs: 50,
    ...over,
  });
  const answer = await routes({
    method: 'GET',
    path: '',
    query: new URLSearchParams(),
    headers: {},
    clientAddress: '192.0.2.1',
    trace: null,
    isSecure: false,
    isSiteHost: true,
    body: async () => Buffer.from(''),
    ...request,
  });
  return [answer?.status ?? 0, JSON.parse(String(answer?.body))];
}

/** What a rebuild is answered when its run ends like this. */
async function rebuilt(report: Promise<{ hasFailed: boolean }>, query: string): Promise<[number, unknown]> {
  report.catch(() => undefined);
  return answered(
    { submit: () => ({ id: 'run-1', report }) },
    {
      method: 'POST',
      path: 'rebuild',
      query: new URLSearchParams(query),
      headers: { authorization: 'Bearer right' },
    },
  );
}

describe('readiness', () => {
  it('is for everybody, and its reasons for whoever has the token, wherever the request comes from', async () => {
    const unready = { staleness: async () => ['edge is stale'] };
    for (const clientAddress of ['192.0.2.1', '127.0.0.1', '::1']) {
      const ask = (token: string) =>
        answered(unready, { path: 'fresh', clientAddress, headers: { authorization: `Bearer ${token}` } });
      expect(await ask('right')).toEqual([503, { status: 'not fresh', reasons: ['edge is stale'] }]);
      expect(await ask('wrong')).toEqual([503, { status: 'not fresh' }]);
    }
    expect(await answered({}, { path: 'fresh' })).toEqual([200, { status: 'fresh' }]);
  });
});

describe('a rebuild', () => {
  const never = new Promise<{ hasFailed: boolean }>(() => undefined);

  it('is answered at once with the id of its run, unless the report is waited for', async () => {
    for (const query of ['', 'wait=0'])
      expect(await rebuilt(never, query)).toEqual([202, expect.objectContaining({ run: 'run-1' })]);
    expect(await rebuilt(Promise.resolve({ hasFailed: false }), 'wait=1')).toEqual([
      200,
      { run: 'run-1', report: { hasFailed: false } },
    ]);
  });

  it('keeps nobody waiting for ever, and says that the run goes on', async () => {
    const [status, body] = await rebuilt(never, 'wait=1');
    expect(status).toBe(202);
    expect(body).toEqual({ run: 'run-1', message: expect.stringContaining('still in progress') });
  });

  it('says which run ended without a report, and not why', async () => {
    const [status, body] = await rebuilt(Promise.reject(new Error('CANARY')), 'wait=1');
    expect(status).toBe(503);
    expect(body).toEqual({ run: 'run-1', message: expect.stringContaining('Search the log') });
    expect(JSON.stringify(body)).not.toContain('CANARY');
  });
});

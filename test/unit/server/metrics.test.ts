import { expect, it } from 'vitest';
import { createMetrics } from '../../../src/server/operators/metrics.ts';

const GAUGES = {
  ...{ upstreams: [], exports: [], components: [], isReady: true, isFresh: true },
  ...{ pagesDefined: 0, pagesPublished: 0, runsWaiting: 0, mailsWaiting: 0 },
};

it('counts each answer in every bucket that it fits in, by the class of its status', async () => {
  const metrics = createMetrics('1');
  for (const seconds of [0.0005, 0.001, 0.02, 60]) metrics.requestAnswered(200, seconds);
  metrics.requestAnswered(404, 0.3);
  const text = await metrics.text(GAUGES);
  const bucket = (status: string) =>
    [...text.matchAll(/pharos_http_request_seconds_bucket\{le="([^"]+)",status="(\dxx)"\} (\d+)/g)]
      .filter((match) => match[2] === status)
      .map(([, le, , count]) => `${le}: ${count}`)
      .join(', ');
  expect(bucket('2xx')).toBe('0.001: 2, 0.005: 2, 0.025: 3, 0.1: 3, 0.5: 3, 2.5: 3, +Inf: 4');
  expect(bucket('4xx')).toBe('0.001: 0, 0.005: 0, 0.025: 0, 0.1: 0, 0.5: 1, 2.5: 1, +Inf: 1');
  expect(text).toContain('pharos_http_request_seconds_sum{status="2xx"} 60.0215');
  expect(text).toContain('pharos_http_request_seconds_count{status="2xx"} 4');
  expect(text).not.toContain('3xx');
});

/** Stands in for the cloud services of openstatus: figures of checks come from the file DAYS, everything else is empty. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** @returns rows of a pipe, as the service of figures gives them */
function rowsOf(pipe, ids) {
  const { days, metrics } = JSON.parse(readFileSync(process.env.DAYS, 'utf8'));
  if (/status_45d/.test(pipe)) return ids.flatMap((id) => (days[id] ?? []).map((day) => ({ ...day, monitorId: id })));
  if (/metrics_(1d|7d|14d)__/.test(pipe)) return metrics[ids[0]] ?? [];
  return [];
}

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://clouds');
  const ids = (searchParams.get('monitorIds') ?? searchParams.get('monitorId') ?? '').split(',').filter(Boolean);
  const [, pipe] = /\/v0\/pipes\/(.*)\.json/.exec(pathname) ?? [];
  const data = pipe === undefined ? [] : rowsOf(pipe, ids);
  request.resume();
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ meta: [], data, rows: data.length, result: 'OK' }));
}).listen(7181, '127.0.0.1');

/**
 * Forwards requests below `/-/` from a worker, which only answers visitors, to the main process, which listens on a socket that
 * visitors can't reach. Like any proxy, it adds the client to `X-Forwarded-For`, and the main process trusts one more hop.
 */

import { request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { plain } from '../../server/answer.ts';
import { headerLines } from '../../server/send.ts';
import { SOCKET_LIMITS } from '../../server/sockets.ts';

/** Headers of a single connection, which aren't forwarded. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

/** Forwards requests to a socket; answers 503 if nothing responds. */
export function createForwarding(
  socketPath: string,
  isStopping: () => boolean,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const hasBody =
      request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
    const headers = [...kept(request.rawHeaders), 'x-forwarded-for', request.socket.remoteAddress ?? ''];
    const onward = ask(
      { socketPath, method: request.method ?? 'GET', path: request.url ?? '/', headers, agent: false },
      (answer) => {
        const closing = isStopping() ? ['connection', 'close'] : [];
        response.writeHead(answer.statusCode ?? 502, [...kept(answer.rawHeaders), ...closing]);
        answer.pipe(response);
        // Streams stay open as long as the client listens.
        if (answer.headers['content-type']?.startsWith('text/event-stream') === true) return;
        const tooLong = setTimeout(() => response.destroy(), SOCKET_LIMITS.answerMs).unref();
        response.once('close', () => clearTimeout(tooLong));
      },
    );
    onward.once('error', () => {
      if (response.headersSent) {
        response.destroy();
        return;
      }
      const failed = plain(503, 'This server is starting. Try again in a moment.', { 'retry-after': '1' });
      response.writeHead(failed.status, headerLines(failed.headers, false));
      response.end(failed.body);
    });
    response.once('close', () => onward.destroy());
    if (hasBody) request.pipe(onward);
    else onward.end();
  };
}

function kept(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => {
    const name = rawHeaders[index - (index % 2)] ?? '';
    return !OF_THE_CONNECTION.has(name.toLowerCase());
  });
}

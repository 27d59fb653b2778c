/**
 * Requests below `/-/` that come to a process which only answers visitors: handed on to the one that runs everything, which
 * listens where no visitor gets to. Like any proxy it adds whom it heard from, and that one trusts one more of them.
 */

import { request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { plain } from '../../server/answer.ts';
import { headerLines } from '../../server/send.ts';
import { SOCKET_LIMITS } from '../../server/sockets.ts';

/** What is of one connection, and is not handed on. */
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

/** Hands requests on to a socket; answers 503 where nobody answers. */
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
        // Streams stay open for as long as somebody listens.
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

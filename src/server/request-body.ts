import type { IncomingMessage } from 'node:http';

/** Forms and hooks are small; anything larger is refused before it is read. */
const BODY_BYTES_MAX = 64 * 1024;

export class BodyTooLargeError extends Error {
  constructor() {
    super(`the body is larger than ${BODY_BYTES_MAX} bytes`);
    this.name = 'BodyTooLargeError';
  }
}

/** Reads the whole body, at most 64 kB. A larger one throws BodyTooLargeError, and the rest is not read. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) throw new BodyTooLargeError();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new BodyTooLargeError();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

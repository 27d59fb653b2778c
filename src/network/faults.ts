/** Why no complete answer came, from the codes of Node and undici. */

/** `tls` is not tried again in the same pass: a certificate does not heal in seconds. */
export type Fault = 'name' | 'connect' | 'tls' | 'timeout' | 'reset' | 'truncated' | 'stopped' | 'address';

interface FaultFacts {
  readonly fault: Fault;
  readonly words: string;
}

const TIMEOUT_WORDS = 'no response in time';
const CUT_WORDS = 'the connection was closed in the middle of the response';

const FAULTS: Readonly<Record<string, FaultFacts>> = {
  ENOTFOUND: { fault: 'name', words: 'host name not found in DNS' },
  EAI_AGAIN: { fault: 'name', words: 'DNS did not respond' },
  EAI_FAIL: { fault: 'name', words: 'DNS failed' },
  EAI_NODATA: { fault: 'name', words: 'its host name has no address' },
  ECONNREFUSED: { fault: 'connect', words: 'the connection was refused' },
  EHOSTUNREACH: { fault: 'connect', words: 'host unreachable' },
  ENETUNREACH: { fault: 'connect', words: 'network unreachable' },
  EPRIVATE: {
    fault: 'address',
    words: 'the address is in a private network, which only the configuration can allow',
  },
  ETIMEDOUT: { fault: 'timeout', words: TIMEOUT_WORDS },
  UND_ERR_CONNECT_TIMEOUT: { fault: 'timeout', words: 'no connection in time' },
  UND_ERR_HEADERS_TIMEOUT: { fault: 'timeout', words: TIMEOUT_WORDS },
  UND_ERR_BODY_TIMEOUT: { fault: 'timeout', words: 'the response stalled' },
  ECONNRESET: { fault: 'reset', words: 'the connection was reset' },
  EPIPE: { fault: 'reset', words: 'the connection was reset' },
  UND_ERR_SOCKET: { fault: 'reset', words: 'the connection was closed' },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { fault: 'truncated', words: CUT_WORDS },
  UND_ERR_ABORTED: { fault: 'stopped', words: 'the request was cancelled' },
};

/** What kept an answer from coming, in words for the middle of a sentence. Never an error's own message, which may quote what was sent. */
export function networkFault(error: unknown): FaultFacts & { readonly code: string } {
  const code = networkErrorCode(error);
  return { code, ...(FAULTS[code] ?? { fault: 'connect', words: `the connection failed (${code || 'no code'})` }) };
}

/** The innermost code, as undici wraps what a socket says. */
function networkErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && code !== 'UND_ERR_SOCKET') return code;
  return networkErrorCode(error.cause) || (typeof code === 'string' ? code : '');
}

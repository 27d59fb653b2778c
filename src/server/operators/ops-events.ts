/** Notifies open operators' pages that something changed. The pages then reload the details. */

import type { ServerResponse } from 'node:http';

export interface OpsEvents {
  /**
   * Keeps a response open and sends it events; false: too many are open.
   *
   * @param isAllowed called at every heartbeat; false closes the response
   */
  readonly open: (response: ServerResponse, isAllowed: () => Promise<boolean>) => boolean;
  /** Sends an event; events in quick succession become one. */
  readonly announce: () => void;
  readonly close: () => void;
}

/** An operator has a few windows open, not hundreds. */
const STREAMS_MAX = 32;
/** Shorter than proxies wait for a silent answer. */
const HEARTBEAT_MS = 15_000;
const GATHER_MS = 250;

/** Creates the event stream. Nothing runs while nobody listens. */
export function createOpsEvents(): OpsEvents {
  const streams = new Map<ServerResponse, () => Promise<boolean>>();
  let heartbeat: NodeJS.Timeout | null = null;
  let gathering: NodeJS.Timeout | null = null;

  function drop(response: ServerResponse): void {
    streams.delete(response);
    if (streams.size > 0 || heartbeat === null) return;
    clearInterval(heartbeat);
    heartbeat = null;
  }

  function onHeartbeat(): void {
    for (const [response, isAllowed] of streams) {
      isAllowed().then(
        (allowed) => (allowed ? response.write(': still here\n\n') : response.end()),
        () => response.end(),
      );
    }
  }

  return {
    open: (response, isAllowed) => {
      if (streams.size >= STREAMS_MAX) return false;
      streams.set(response, isAllowed);
      response.on('close', () => drop(response));
      response.write('retry: 5000\n\n');
      heartbeat ??= setInterval(onHeartbeat, HEARTBEAT_MS).unref();
      return true;
    },
    announce: () => {
      if (streams.size === 0 || gathering !== null) return;
      gathering = setTimeout(() => {
        gathering = null;
        for (const response of streams.keys()) response.write('event: change\ndata: {}\n\n');
      }, GATHER_MS).unref();
    },
    close: () => {
      if (gathering !== null) clearTimeout(gathering);
      for (const response of streams.keys()) response.end();
    },
  };
}

/** Visitors who ask every node all the time, as a balancer would send them: those nodes that are there and ready. */

import { setTimeout as wait } from 'node:timers/promises';
import { type Node, saysDown } from './nodes.ts';

export interface Visitors {
  /** No visitor is sent to a node any more, and what is under way there may fail. */
  readonly leave: (node: Node) => void;
  readonly join: (node: Node) => void;
  /** Waits until a node says that something is down, or that nothing is. */
  readonly sees: (node: Node, isDown: boolean, patienceMs: number) => Promise<void>;
  readonly faults: () => readonly string[];
  readonly answered: () => number;
  readonly stop: () => Promise<void>;
}

const PAUSE_MS = 300;

export function createVisitors(nodes: readonly Node[]): Visitors {
  const away = new Set<Node>();
  /** Grows each time a node goes away, so that who asked before is known. */
  const era = new Map<Node, number>(nodes.map((node) => [node, 0]));
  const newest = new Map<Node, number>();
  const faults: string[] = [];
  let answered = 0;
  let isStopped = false;

  async function ask(node: Node, path: string): Promise<{ status: number; text: string } | null> {
    if (away.has(node)) return null;
    const began = era.get(node);
    try {
      const response = await fetch(`${node.url()}${path}`, { signal: AbortSignal.timeout(20_000) });
      const text = await response.text();
      if (era.get(node) !== began) return null;
      answered += 1;
      return { status: response.status, text };
    } catch (error) {
      if (era.get(node) === began)
        faults.push(`${node.name} ${path}: ${String(error)} ${String((error as Error).cause)}`);
      return null;
    }
  }

  async function visit(node: Node): Promise<void> {
    const page = await ask(node, '/acme/');
    if (page !== null && page.status !== 200) faults.push(`${node.name} /acme/: ${page.status}`);
    const gated = await ask(node, '/partners/');
    if (gated !== null && (gated.status !== 404 || !gated.text.includes('type="password"')))
      faults.push(`${node.name} /partners/: ${gated.status} without its gate`);
    const now = await ask(node, '/acme/api/now.json');
    if (now === null) return;
    const release = Number((JSON.parse(now.text) as { release: unknown }).release);
    if (!(release >= (newest.get(node) ?? 0)))
      faults.push(`${node.name} went back from ${newest.get(node)} to ${release}`);
    newest.set(node, release);
  }

  const loops = nodes.map(async (node) => {
    while (!isStopped) {
      if (!away.has(node)) await visit(node);
      await wait(PAUSE_MS);
    }
  });

  return {
    leave: (node) => {
      away.add(node);
      era.set(node, (era.get(node) ?? 0) + 1);
    },
    join: (node) => void away.delete(node),
    sees: async (node, isDown, patienceMs) => {
      const deadline = performance.now() + patienceMs;
      for (;;) {
        const text = await fetch(`${node.url()}/acme/api/v2/summary.json`, { signal: AbortSignal.timeout(5_000) })
          .then((response) => response.text())
          .catch(() => '');
        if (text !== '' && saysDown(text) === isDown) return;
        if (performance.now() > deadline)
          throw new Error(`${node.name} does not say ${isDown ? 'down' : 'up'}: ${node.said().slice(-3_000)}`);
        await wait(50);
      }
    },
    faults: () => faults,
    answered: () => answered,
    stop: async () => {
      isStopped = true;
      await Promise.all(loops);
    },
  };
}

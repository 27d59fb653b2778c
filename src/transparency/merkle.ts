/**
 * The Merkle tree of RFC 6962 over the lines of a log: a root that depends on every line, and grows at a cost of a few hashes.
 * Pure.
 */

import { hash } from 'node:crypto';

/** Hashes of the complete subtrees at the right edge of a tree, largest first, as base64: all that growing it needs. */
export type Frontier = readonly string[];

/** Adds lines to a tree of `size` lines. @returns its new frontier */
export function growTree(frontier: Frontier, size: number, lines: readonly string[]): Frontier {
  const edge: Buffer[] = frontier.map((node) => Buffer.from(node, 'base64'));
  let leaves = size;
  for (const line of lines) {
    let node = hashLeaf(line);
    for (let left = leaves; left % 2 === 1; left = (left - 1) / 2) node = hashNode(edge.pop() as Buffer, node);
    edge.push(node);
    leaves += 1;
  }
  return edge.map((node) => node.toString('base64'));
}

/** The root of a tree, as base64. */
export function treeRoot(frontier: Frontier): string {
  const edge = frontier.map((node) => Buffer.from(node, 'base64'));
  const root = edge.reduceRight<Buffer | null>((right, left) => (right === null ? left : hashNode(left, right)), null);
  return (root ?? sha256(Buffer.alloc(0))).toString('base64');
}

/** The root over the first `size` lines of a log. */
export function rootAfter(lines: readonly string[], size: number): string {
  return treeRoot(growTree([], 0, lines.slice(0, size)));
}

function hashLeaf(line: string): Buffer {
  return sha256(Buffer.concat([Buffer.of(0), Buffer.from(line)]));
}

function hashNode(left: Buffer, right: Buffer): Buffer {
  return sha256(Buffer.concat([Buffer.of(1), left, right]));
}

function sha256(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer');
}

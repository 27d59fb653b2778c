import { expect, it } from 'vitest';
import { type DrawOptions, drawFiles } from '../../../src/publish/draw/renderer.ts';
import { fileEntry } from '../../../src/publish/files/file-entry.ts';
import { KINDS } from '../../../src/publish/files/kinds.ts';
import type { Manifest } from '../../../src/publish/releases/manifest.ts';

it('keeps what is drawn later as it was, and leaves it out if it was drawn for other access rules', async () => {
  const later = fileEntry(KINDS.icon, 'later.png', { priority: 'background', inputs: () => ({ png: 'AAAA' }) });
  const previous = { files: { 'later.png': { key: 'of the private page' } } } as unknown as Manifest;
  const options: DrawOptions = {
    renderer: { version: '1', render: () => Promise.reject(new Error('nothing is rendered')) },
    priorities: ['immediate', 'deferred'],
  };
  const kept = { path: 'later.png', key: 'of the private page', drawn: null };
  expect(await drawFiles([later], previous, options)).toEqual({ files: [kept], filesDrawn: 0, hasWaiting: true });
  const other = await drawFiles([later], previous, { ...options, isOther: true });
  expect(other).toEqual({ files: [], filesDrawn: 0, hasWaiting: true });
});

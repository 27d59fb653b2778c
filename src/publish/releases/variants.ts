/**
 * Compressed variants of a release. They only save bytes, so they are made once the release is served. Until then, files are
 * served uncompressed.
 */

import { dirname, join } from 'node:path';
import { NEXT_FOLDER, type Place, releaseFolder } from './folders.ts';
import { filePlaces, MANIFEST_FILE, type Manifest, VARIANT_SUFFIXES, type Variant } from './manifest.ts';
import { chooseModes } from './modes.ts';

/**
 * Writes variants next to the files of a release, and then names them in its manifest. The manifest
 * therefore never names a missing variant.
 *
 * @param made variants by path; an empty list: the file is served uncompressed
 * @returns the new manifest; null when another process is writing variants, or the release was removed
 */
export async function writeVariants(
  { disk, folders }: Place,
  manifest: Manifest,
  made: ReadonlyMap<string, readonly Variant[]>,
): Promise<Manifest | null> {
  const home = releaseFolder(folders, manifest.slug, manifest.number);
  const next = join(home, NEXT_FOLDER);
  try {
    disk.claimFolder(next);
  } catch {
    return null;
  }
  try {
    const modes = chooseModes(manifest.access === 'public');
    const placeOf = filePlaces(folders, manifest);
    const places = [...made].flatMap(([path, variants]) =>
      variants.map(({ encoding, bytes }) => ({ place: placeOf(path) + VARIANT_SUFFIXES[encoding], bytes })),
    );
    const staged = disk.batch();
    for (const [index, { bytes }] of places.entries()) staged.write(join(next, String(index)), bytes, modes.file);
    await staged.flush();
    for (const [index, { place }] of places.entries()) disk.rename(join(next, String(index)), place);
    const records = recordsWith(manifest, made);
    if (records.length === 0) return manifest;
    const named = { ...manifest, files: { ...manifest.files, ...Object.fromEntries(records) } };
    const naming = disk.batch();
    for (const { place } of places) naming.touch(dirname(place));
    naming.write(join(next, MANIFEST_FILE), Buffer.from(JSON.stringify(named)));
    await naming.flush();
    disk.rename(join(next, MANIFEST_FILE), join(home, MANIFEST_FILE));
    return named;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  } finally {
    disk.remove(next);
  }
}

/** Returns the changed records. */
function recordsWith({ files }: Manifest, made: ReadonlyMap<string, readonly Variant[]>) {
  return [...made].flatMap(([path, variants]) => {
    const record = files[path];
    const encodings = variants.map(({ encoding }) => encoding);
    return record === undefined || record.variants?.join() === encodings.join()
      ? []
      : [[path, { ...record, variants: encodings }] as const];
  });
}

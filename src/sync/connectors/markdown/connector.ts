/**
 * markdown: incidents, maintenance windows and announcements that operators write by hand, one file each.
 *
 * One question a pass: the folder, from disk. Front matter is checked; `postJsonSchema` gives editors its schema, and
 * `pharos incident new` and `pharos maintenance new` write a valid file.
 */

import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { type Learned, NOTHING_LEARNED } from '../../../model/observation.ts';
import { TimezoneSchema } from '../../../schema/scalars.ts';
import { ask, type Connector, type Pull, type PullContext } from '../../connector.ts';
import { projectPosts } from './project.ts';
import { FolderSchema } from './schema.ts';

const OptionsSchema = z.strictObject({
  path: z.string().min(1).describe('Folder of posts; subfolders are not read.'),
  timezone: TimezoneSchema.default('UTC').describe('Time zone (IANA) of times without an offset.'),
  drafts: z.boolean().default(false).describe('True: also show posts marked as drafts, as pharos preview does.'),
});
type Options = z.output<typeof OptionsSchema>;

function* pull({ path, timezone: zone, drafts }: Options, { upstreamId, now }: PullContext): Pull<Learned> {
  const url = pathToFileURL(path).href;
  const { payload } = yield* ask({ name: 'read posts', url, reads: 'folder', schema: FolderSchema });
  return { ...NOTHING_LEARNED, ...projectPosts(payload, { upstreamId, zone, now, hasDrafts: drafts }) };
}

export const markdown: Connector<Options> = {
  kind: 'markdown',
  title: 'incidents, maintenance and announcements written by hand',
  example: { id: 'posts', kind: 'markdown', path: './posts' },
  questions: [{ key: 'path', words: 'Folder of posts', suggestion: './posts' }],
  optionsSchema: OptionsSchema,
  // The name of a file in the folder.
  idField: 'name',
  // Front matter is validated. A post with an unknown word is reported and ignored.
  words: {},
  fileOption: 'path',
  previewOptions: { drafts: true },
  pull,
};

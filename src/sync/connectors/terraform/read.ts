/** What the bytes of a question are: a state, the output of `terraform show -json`, or sources. */

import { z } from 'zod';
import { issueWords } from '../../../schema/issue-words.ts';
import type { Document } from './document.ts';
import { ShownSchema } from './plan.ts';
import { StateSchema } from './state.ts';

/** A state as a back end keeps it, or what `terraform show -json` prints, told apart by what they begin with. */
export const JsonDocumentSchema: z.ZodType<Document> = z
  .record(z.string(), z.unknown(), { error: 'not a JSON object; use a state or the output of terraform show -json' })
  .transform((value, context): Document => {
    if (!('format_version' in value) && value['version'] !== 4) {
      const message =
        'version' in value
          ? 'a state from before Terraform 0.12; upgrade it by running terraform 0.12 or later once'
          : 'neither a state of version 4 nor the output of terraform show -json';
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }
    const parsed = ('format_version' in value ? ShownSchema : StateSchema).safeParse(value, { error: issueWords() });
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) context.issues.push({ ...issue, input: value } as never);
    return z.NEVER;
  });

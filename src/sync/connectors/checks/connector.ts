/**
 * checks: HTTP, TCP and DNS checks that this installation makes itself.
 *
 * `src/checks` connects to the targets and stores what it finds; a pass asks the database for the last results
 * (`store:checks/<id>`), which is its only question. No credentials, no paging, no limits. A changed state causes a pass at once.
 */

import { z } from 'zod';
import { type Learned, NOTHING_LEARNED } from '../../../model/observation.ts';
import type { Connector, Pull, PullContext } from '../../connector.ts';
import { type Check, CheckSchema } from '../check.ts';
import { projectChecks, readResults } from '../check-results.ts';

const OptionsSchema = z.strictObject({
  checks: z
    .array(CheckSchema)
    .min(1)
    .max(10_000)
    .superRefine((checks, context) => {
      const seen = new Set<string>();
      for (const [index, check] of checks.entries()) {
        if (check !== undefined && seen.has(check.id))
          context.addIssue({
            code: 'custom',
            path: [index, 'id'],
            message: `the id ${check.id} is used twice; give one of the checks another id`,
          });
        if (check !== undefined) seen.add(check.id);
      }
    })
    .describe('What to check.'),
});
type Options = z.output<typeof OptionsSchema>;

function* pull({ checks }: Options, context: PullContext): Pull<Learned> {
  const results = yield* readResults(context.upstreamId);
  return { ...NOTHING_LEARNED, ...projectChecks(checks, results, context), itemsTotal: checks.length };
}

// biome-ignore lint/correctness/useYield: it has nothing to ask.
function* checks({ checks: configured }: Options): Pull<readonly Check[]> {
  return configured;
}

export const ownChecks: Connector<Options> = {
  kind: 'checks',
  title: 'your own systems: HTTP, TCP and DNS checks that Pharos makes itself',
  example: {
    id: 'checks',
    kind: 'checks',
    checks: [{ name: 'Website', type: 'http', url: 'https://example.com', periodicity: '1m' }],
  },
  questions: [{ key: 'checks.url', words: 'Address to check' }],
  optionsSchema: OptionsSchema,
  idField: 'name',
  words: {},
  checks,
  pull,
};

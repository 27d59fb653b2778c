/**
 * terraform: status pages, components, groups, monitors and channels that a team has written down as infrastructure.
 *
 * One question a pass, and one for each folder of a module: a state (`.tfstate`, version 4), the output of
 * `terraform show -json` of a state or a plan, or sources, from disk or over HTTP (an HTTP state back end, with its
 * headers). Nothing is run: of sources only literals, variables, locals, outputs and references are known. Sensitive
 * values are checked and left out; what cannot be taken is named by its address.
 */

import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { type Learned, NOTHING_LEARNED } from '../../../model/observation.ts';
import { ask, type ChannelResource, type Connector, type Pull, type PullContext } from '../../connector.ts';
import type { Check } from '../check.ts';
import { projectChecks, readResults } from '../check-results.ts';
import { BaseUrlSchema, HeadersSchema } from '../wire.ts';
import { type Document, type Origin, readFolder, readModules, sourceFileSchema } from './hcl.ts';
import { JsonDocumentSchema } from './plan.ts';
import { channelResources, findChecks, projectDocument, withStates } from './project.ts';
import { resolveTree } from './resolve.ts';
import { WORDS } from './schema.ts';

const OptionsSchema = z
  .strictObject({
    path: z
      .string()
      .min(1)
      .refine((path) => !/\.tfplan$/i.test(path), {
        error: 'a saved plan is binary; save the output of terraform show -json as a .json file and use that',
      })
      .optional()
      .describe('A state, the output of terraform show -json, a .tf file, or a folder of .tf files.'),
    url: BaseUrlSchema.optional().describe('URL of a state, such as an HTTP state back end.'),
    headers: HeadersSchema.describe('Headers sent with the request, such as Authorization.'),
    preset: z
      .enum(['document', 'openstatus'])
      .default('document')
      .describe('Prefix of the resource types: document is svc_*, openstatus is openstatus_*.'),
    monitorUpstream: z
      .string()
      .min(1)
      .optional()
      .describe('Id of the upstream whose monitors the components show, if the service is an upstream too.'),
    checks: z
      .boolean()
      .default(false)
      .describe('true: Pharos makes the checks of the HTTP, TCP and DNS monitors itself (docs/upstreams/checks.md).'),
  })
  .refine(({ checks, monitorUpstream }) => !checks || monitorUpstream === undefined, {
    path: ['checks'],
    error: 'the monitors come from monitorUpstream already; set one of the two',
  })
  .refine(({ path, url }) => (path === undefined) !== (url === undefined), 'set either path or url');
type Options = z.output<typeof OptionsSchema>;

/** What is asked, and the resources in it; folders of modules are asked for on the way. */
function* readDocument({ path, url, headers }: Options): Pull<Document> {
  const place = path ?? url ?? '';
  const isSource = /\.tf(\.json)?$/i.test(place);
  const isJson = /\.(json|tfstate)$/i.test(place) && !isSource;
  if (path !== undefined && !isSource && !isJson) return resolveTree(yield* readFolder(path));
  const name = 'read resources';
  // Plain file servers and back ends say many things about the type of a state.
  const asked =
    path === undefined ? { name, url: place, headers, acceptAnyType: true } : { name, url: pathToFileURL(path).href };
  if (!isSource) return (yield* ask({ ...asked, schema: JsonDocumentSchema })).payload;
  const { payload } = yield* ask({ ...asked, reads: 'text', schema: sourceFileSchema(basename(place)) });
  return resolveTree(yield* readModules(payload, path ?? null));
}

function toOrigin(options: Options, { upstreamId }: PullContext): Origin {
  return {
    upstreamId,
    brand: options.preset === 'openstatus' ? 'openstatus_' : 'svc_',
    monitorUpstream: options.monitorUpstream ?? null,
  };
}

function* pull(options: Options, context: PullContext): Pull<Learned> {
  const document = yield* readDocument(options);
  const origin = toOrigin(options, context);
  const learned = { ...NOTHING_LEARNED, ...projectDocument(document, origin) };
  if (!options.checks) return learned;
  const found = findChecks(document, origin);
  const { monitors, problems, ...made } = projectChecks(found.checks, yield* readResults(context.upstreamId), context);
  return {
    ...learned,
    ...made,
    monitors: withStates(learned.monitors, monitors, found.unmade),
    problems: [...learned.problems, ...found.problems, ...problems],
  };
}

function* checks(options: Options, context: PullContext): Pull<readonly Check[]> {
  return options.checks ? findChecks(yield* readDocument(options), toOrigin(options, context)).checks : [];
}

function* channels(options: Options, context: PullContext): Pull<readonly ChannelResource[]> {
  return channelResources(yield* readDocument(options), toOrigin(options, context));
}

export const terraform: Connector<Options> = {
  kind: 'terraform',
  title: 'status pages and monitors as code: plan JSON, state or .tf files',
  example: { id: 'iac', kind: 'terraform', path: './terraform.tfstate' },
  questions: [{ key: 'path', words: 'State, plan or folder', suggestion: './terraform.tfstate' }],
  definesPages: true,
  optionsSchema: OptionsSchema,
  idField: 'id',
  words: WORDS,
  fileOption: 'path',
  checks,
  pull,
  channels,
};

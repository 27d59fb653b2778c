/**
 * terraform: status pages, components, groups, monitors and channels that a team has written down as infrastructure.
 *
 * One question a pass: a state (`.tfstate`, version 4), the output of `terraform show -json`, a `.tf` file or a folder
 * of them, from disk or over HTTP (an HTTP state back end, with its headers). Nothing is run: of `.tf` files only
 * literals, defaults of variables, locals and references are known. Sensitive values are checked and left out.
 */

import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { Learned } from '../../../model/observation.ts';
import {
  ask,
  type Connector,
  NOTHING_LEARNED,
  type Probe,
  type Pull,
  type PullContext,
  type Question,
} from '../../connector.ts';
import { BaseUrlSchema, HeadersSchema } from '../wire.ts';
import type { Document } from './document.ts';
import { type Origin, projectDocument } from './project.ts';
import { FileDocumentSchema, FolderDocumentSchema, JsonDocumentSchema } from './read.ts';

const OptionsSchema = z
  .strictObject({
    path: z
      .string()
      .min(1)
      .optional()
      .describe('A state, the output of terraform show -json, a .tf file, or a folder of .tf files.'),
    url: BaseUrlSchema.optional().describe('Address of a state, such as an HTTP state back end.'),
    headers: HeadersSchema.describe('Headers sent with the request, such as Authorization.'),
    preset: z
      .enum(['document', 'openstatus'])
      .default('document')
      .describe('Brand of the resource types: svc_*, or openstatus_*.'),
    monitorUpstream: z
      .string()
      .min(1)
      .optional()
      .describe('Id of the upstream whose monitors the components show, where that service is an upstream too.'),
  })
  .refine(({ path, url }) => (path === undefined) !== (url === undefined), 'give either path or url');
type Options = z.output<typeof OptionsSchema>;

function documentQuestion({ path, url, headers }: Options): Question<Document> {
  const place = path ?? url ?? '';
  const isJson = /\.(json|tfstate)$/i.test(place);
  const isHcl = /\.tf$/i.test(place);
  const common = { name: 'read resources', priority: 'list', method: 'GET' } as const;
  if (path !== undefined) {
    const file = { ...common, url: pathToFileURL(path).href, headers: {} };
    if (isJson) return { ...file, schema: JsonDocumentSchema };
    return isHcl
      ? { ...file, reads: 'text', schema: FileDocumentSchema }
      : { ...file, reads: 'folder', schema: FolderDocumentSchema };
  }
  // Plain file servers and back ends say many things about the type of a state.
  const remote = { ...common, url: place, headers, acceptAnyType: true };
  return isHcl ? { ...remote, reads: 'text', schema: FileDocumentSchema } : { ...remote, schema: JsonDocumentSchema };
}

function originOf(options: Options, { upstreamId }: PullContext): Origin {
  return {
    upstreamId,
    brand: options.preset === 'openstatus' ? 'openstatus_' : 'svc_',
    monitorUpstream: options.monitorUpstream ?? null,
  };
}

function* pull(options: Options, context: PullContext): Pull<Learned> {
  const { payload } = yield* ask(documentQuestion(options));
  return { ...NOTHING_LEARNED, ...projectDocument(payload, originOf(options, context)) };
}

function* probe(options: Options, context: PullContext): Pull<Probe> {
  const { payload } = yield* ask(documentQuestion(options));
  const { monitors, pages, problems } = projectDocument(payload, originOf(options, context));
  return {
    summary: `${pages.length} pages, ${monitors.length} monitors in ${payload.resources.length} resources`,
    warnings: problems.map(({ place, message }) => `${place}: ${message}`),
    monitorsTotal: monitors.length,
  };
}

export const terraform: Connector<Options> = {
  definesPages: true,
  kind: 'terraform',
  optionsSchema: OptionsSchema,
  limits: { perMinute: null, perHour: null },
  pull,
  probe,
};

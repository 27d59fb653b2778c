/** External places that the public part of the site is copied to. */

import { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { OffSchema, OptionalTextSchema } from '../schema/scalars.ts';
import { SecretSchema } from '../schema/secret.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

export const CaSchema = z
  .string()
  .refine(areCertificates, 'expected certificates in PEM; read them from a file with "${file:./ca.pem}"');

function areCertificates(text: string): boolean {
  try {
    const found = text.match(CERTIFICATE) ?? [];
    return found.length > 0 && found.every((pem) => new X509Certificate(pem).raw.length > 0);
  } catch {
    return false;
  }
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;
const R2_HOST = /\.r2\.cloudflarestorage\.com$/;
/** `s3.eu-central-1.amazonaws.com`, `s3.us-west-004.backblazeb2.com`, `s3.dualstack.eu-west-1.amazonaws.com`. */
const REGION_IN_HOST = /(?:^|\.)s3[.-](?:dualstack\.)?([a-z]{2}-[a-z-]+-\d+)\./;

const EndpointSchema = z
  .url({ protocol: /^https?$/, error: 'expected an http(s) address, such as https://s3.eu-central-1.amazonaws.com' })
  .refine((text) => {
    const url = URL.parse(text);
    return url === null || url.protocol !== 'http:' || LOOPBACK.test(url.hostname);
  }, 'expected https; plain http is allowed only on this machine')
  .refine((text) => {
    const url = URL.parse(text);
    return url === null || (url.username === '' && url.search === '' && url.hash === '');
  }, 'expected a URL without user, ? and #; keys have their own settings');

const BucketSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'expected a bucket name: 3 to 63 lower-case letters, digits, . and -')
  .refine((name) => !name.includes('..') && !/^[\d.]+$/.test(name), 'expected a name, not an address, without ..');

const PrefixSchema = z
  .string()
  .max(512)
  .regex(/^[A-Za-z0-9._~/-]*$/, 'expected letters, digits, and . _ ~ - /')
  .refine((text) => !text.startsWith('/') && !text.includes('//'), 'expected a path without a leading / and without //')
  .refine(
    (text) => !text.split('/').some((part) => part === '.' || part === '..'),
    'expected a prefix without "." or ".." segments',
  )
  .transform((text) => (text === '' || text.endsWith('/') ? text : `${text}/`));

const S3Schema = z
  .strictObject({
    endpoint: EndpointSchema.describe('URL of the S3 API (not of the website): https://s3.<region>.amazonaws.com …'),
    bucket: BucketSchema.describe('Name of an existing bucket.'),
    region: z
      .string()
      .regex(/^[a-z0-9-]{1,64}$/, 'expected a region such as eu-central-1')
      .optional()
      .describe('Default: taken from the endpoint, auto for Cloudflare R2, else us-east-1.'),
    prefix: PrefixSchema.default('').describe('Prefix for every key, such as status/. Use one per publisher.'),
    accessKeyId: SecretSchema.describe('Access key id.'),
    secretAccessKey: SecretSchema.describe('Secret access key. It signs requests and is never sent.'),
    sessionToken: SecretSchema.optional().describe('Session token, for temporary credentials.'),
    ca: CaSchema.optional().describe('Certificates (PEM) trusted instead of those of the system: "${file:./ca.pem}".'),
    addressing: z
      .enum(['path', 'virtual-host'])
      .default('path')
      .describe('How the bucket appears in URLs. path works everywhere.'),
    contentEncoding: z
      .enum(['identity', 'gzip', 'br'])
      .default('identity')
      .describe(
        'Encoding of stored text files. A bucket sends it to every client, so keep identity and let a CDN compress.',
      ),
  })
  .refine(
    ({ bucket, addressing, endpoint }) =>
      !(addressing === 'virtual-host' && bucket.includes('.') && endpoint.startsWith('https:')),
    { path: ['addressing'], error: 'certificates do not cover a bucket with dots in its name: use addressing: path' },
  )
  .transform((s3) => ({ ...s3, region: s3.region ?? guessRegion(s3.endpoint) }));

const NO_DATABASE =
  'releases are no longer kept in the database. Set releases.s3 to a private bucket, or delete releases and start these nodes with --role all: nodes that share Postgres can all render (docs/nodes.md)';

/** The bucket from which nodes that don't render take releases. It must be private, because it contains private pages unencrypted. */
export const ReleasesSchema = z
  .strictObject(
    {
      s3: S3Schema.describe(
        'Private bucket that nodes with --role web fetch releases from; docs/nodes.md. Never use a bucket that is served.',
      ),
    },
    {
      error: ({ code, keys }) => (code === 'unrecognized_keys' && keys?.includes('database') ? NO_DATABASE : undefined),
    },
  )
  .optional();

/** Kept current by `pharos start` and written by `pharos build`. */
export const OutputSchema = z
  .strictObject({
    folder: OptionalTextSchema.describe('Folder to write the public site to.'),
    s3: S3Schema.optional().describe(
      'Bucket to write the public site to: Amazon S3, Cloudflare R2, MinIO, Backblaze B2 …',
    ),
    sealed: OffSchema.describe('Also publish each password page as one encrypted file (docs/gates.md).'),
  })
  .prefault({});

function guessRegion(endpoint: string): string {
  const host = URL.parse(endpoint)?.hostname ?? '';
  if (R2_HOST.test(host)) return 'auto';
  return REGION_IN_HOST.exec(host)?.[1] ?? 'us-east-1';
}

/** Releases that a test writes as it likes, and targets over them. */

import type { PageKey } from '../../src/model/slugs.ts';
import { toEpochMs } from '../../src/model/time.ts';
import { DISK } from '../../src/publish/releases/disk.ts';
import { currentManifest, type Manifest, readManifest } from '../../src/publish/releases/manifest.ts';
import { hideFromPublic, switchTo, withdraw } from '../../src/publish/releases/switch.ts';
import { type ReleaseInput, writeRelease } from '../../src/publish/releases/write.ts';
import { createTarget, type Target } from '../../src/publish/targets/create-target.ts';
import { createBucket } from '../../src/publish/targets/object-store.ts';
import type { ContentEncoding } from '../../src/publish/targets/static-file.ts';
import { createStaticListing } from '../../src/publish/targets/static-listing.ts';
import { drawn, htmlOf, inputOf, releaseNumbersFrom, type TestFolders } from '../helpers/release-inputs.ts';
import { S3_KEYS, type S3Server } from '../helpers/s3-server.ts';

type BucketOptions = Parameters<typeof createBucket>[0];
type ListingOptions = Parameters<typeof createStaticListing>[0];

const revealed = (text: string) => ({ reveal: () => text });

export const SITE_KEY = revealed('a key of the site, for tests of targets');

const QUICK = { attempts: 3, backoffMs: 1, totalMs: 400, connectMs: 400, retryAfterMaxMs: 1_500 };

function s3Options(s3: S3Server, over: Partial<BucketOptions> = {}): BucketOptions {
  return {
    setting: 'output.s3',
    endpoint: s3.endpoint,
    bucket: s3.bucket,
    region: 'us-east-1',
    addressing: 'path',
    prefix: '',
    accessKeyId: revealed(S3_KEYS.accessKeyId),
    secretAccessKey: revealed(S3_KEYS.secretAccessKey),
    ...over,
  };
}

const open: Target[] = [];

/** A target over a bucket as a process that just started has it. */
export function s3Target(
  s3: S3Server,
  folders: TestFolders,
  {
    store = {},
    encoding = 'identity',
    listing = {},
  }: { store?: Partial<BucketOptions>; encoding?: ContentEncoding; listing?: Partial<ListingOptions> } = {},
): Target {
  const target = createTarget({
    key: SITE_KEY,
    onNumbers: async () => undefined,
    encoding,
    store: createBucket(s3Options(s3, store), {
      now: () => toEpochMs(Date.now()),
      random: () => 0.5,
      limits: QUICK,
    }),
    listing: createStaticListing({
      folders,
      home: () => null,
      sources: () => [],
      sealed: new Map(),
      hostFiles: null,
      version: 'v1',
      ...listing,
    }),
  });
  open.push(target);
  return target;
}

export async function closeTargets(): Promise<void> {
  for (const target of open.splice(0)) await target.close();
}

export interface PageInit {
  readonly slug?: string;
  readonly access?: ReleaseInput['access'];
  readonly customDomain?: string;
  /** Default: the same for all. */
  readonly asOf?: ReleaseInput['asOf'];
  /** Default: the first that had the slug. */
  readonly page?: PageKey;
  /** Components that the index links to, each with a document and a feed. */
  readonly parts?: readonly string[];
  /** Languages besides the default, each with a folder of documents. */
  readonly locales?: readonly string[];
}

/** Publishes a page whose every file names `name`. */
export async function publishPage(folders: TestFolders, name: string, init: PageInit = {}): Promise<Manifest> {
  const { slug = 'acme', access = 'public', customDomain = null, parts = ['a', 'b'], locales = [], page, asOf } = init;
  const files = [
    drawn(
      'index.html',
      linking(
        htmlOf(name, 1_200),
        parts.map((part) => `components/${part}/`),
      ),
    ),
    drawn('api/v2/summary.json', JSON.stringify({ name, padding: 'y'.repeat(1_500) })),
    drawn('favicon.svg', `<svg xmlns="http://www.w3.org/2000/svg"><title>${name}</title></svg>`),
    ...parts.flatMap((part) => [
      drawn(`components/${part}/index.html`, htmlOf(`${name} ${part}`)),
      drawn(`components/${part}/feed.json`, JSON.stringify({ name, part })),
    ]),
    ...locales.flatMap((locale) => [
      drawn(`${locale}/index.html`, htmlOf(`${name} ${locale}`)),
      drawn(`${locale}/404.html`, htmlOf(`${name} ${locale} not found`)),
      drawn(`${locale}/history/index.html`, htmlOf(`${name} ${locale} history`)),
    ]),
  ];
  const more = { ...(page === undefined ? {} : { page }), ...(asOf === undefined ? {} : { asOf }) };
  const input = inputOf(files, { slug, access, customDomain, ...more });
  const previous = currentManifest(folders, slug) ?? readManifest(folders, slug, 1);
  const manifest = await writeRelease({ disk: DISK, folders, nextNumber: releaseNumbersFrom() }, input, previous);
  await switchTo({ disk: DISK, folders }, { slug, number: manifest.number, isPublic: access === 'public' });
  return manifest;
}

/** A document that says what it links to, for `brokenLinks`. */
function linking(html: string, links: readonly string[]): string {
  return html.replace('</html>', `<!-- links: ${links.join(' ')} --></html>`);
}

/** The site's own files, with an index that links to the pages. */
export async function publishSite(folders: TestFolders, name: string, slugs: readonly string[]): Promise<Manifest> {
  const files = [
    drawn(
      'index.html',
      linking(
        htmlOf(name),
        slugs.map((slug) => `${slug}/`),
      ),
    ),
    drawn('404.html', htmlOf('not found')),
    drawn('robots.txt', 'User-agent: *\n'),
  ];
  const input = inputOf(files, { slug: '_site' });
  const manifest = await writeRelease(
    { disk: DISK, folders, nextNumber: releaseNumbersFrom() },
    input,
    currentManifest(folders, '_site'),
  );
  await switchTo({ disk: DISK, folders }, { slug: '_site', number: manifest.number, isPublic: true });
  return manifest;
}

export const closeGate = (folders: TestFolders, slug: string) => hideFromPublic({ disk: DISK, folders }, slug);
export const withdrawPage = (folders: TestFolders, slug: string) => withdraw({ disk: DISK, folders }, slug);

/** Objects of the bucket that an `index.html` in it links to and that are not there. */
export function brokenLinks(s3: S3Server): string[] {
  return s3.keys().flatMap((key) => {
    const [, links = ''] = /<!-- links: (.*?) -->/.exec(s3.text(key) ?? '') ?? [];
    const folder = key.replace(/index\.html$/, '');
    return links
      .split(' ')
      .filter((link) => link !== '')
      .map((link) => `${folder}${link}index.html`)
      .filter((target) => !s3.objects.has(target))
      .map((target) => `${key} -> ${target}`);
  });
}

/** What is there of ours that visitors read. */
export function siteKeys(s3: S3Server): string[] {
  return s3.keys().filter((key) => !key.includes('.pharos'));
}

/** The API for operators' posts: stores posts and publishes them. */

import packageJson from '../../../package.json' with { type: 'json' };
import { systemRandom } from '../../access/digest.ts';
import { hasOperators } from '../../config/rules.ts';
import { loadWritingPage, type WritingPage, type WritingPageInit } from '../../incidents/writing-page.ts';
import { WRITTEN_ID } from '../../model/observation.ts';
import { createAddressSeal, gateVersion } from '../../notify/subscribers.ts';
import type { ResolvedPage } from '../../publish/definitions/definitions.ts';
import { createApiRoutes, createIntakeRoute } from '../../server/operators/api-routes.ts';
import { createApiAccess, type OperatorGuard } from '../../server/operators/operator.ts';
import { createWriteForms, type WriteForms } from '../../server/operators/write-routes.ts';
import { within } from '../../server/own-routes.ts';
import { createApiTokens } from '../../store/written.ts';
import type { PublishParts } from '../build-publish.ts';
import type { StoreParts } from '../build-store.ts';
import { now } from '../clock.ts';
import type { Pharos } from '../compose.ts';
import type { Log } from '../log.ts';

/** The post is stored, so the response doesn't wait longer than this for publishing. */
const PUBLISH_PATIENCE_MS = 3_000;
const SUFFIX_CHARS = 5;

/** The page as its authors see it; null: there is none. */
export async function writingPage(
  { store, readSite }: Pick<StoreParts, 'store' | 'readSite'>,
  slug: string,
  candidate?: WritingPageInit['candidate'],
): Promise<WritingPage | null> {
  const at = now();
  const state = await readSite(at);
  return loadWritingPage(store, { state, slug, now: at, ...(candidate === undefined ? {} : { candidate }) });
}

/** @param gateOf default: no page is behind a password */
export function subscriberParts({ key }: StoreParts, gateOf = (_slug: string): string => '') {
  return { seal: createAddressSeal(key, systemRandom), random: systemRandom, gateOf };
}

/** Publishes posts at once. */
async function publishWritten({ engine }: PublishParts): Promise<void> {
  const { report } = engine.submit({ trigger: 'write', upstreams: [WRITTEN_ID], isUrgent: true });
  // The engine logs failed runs.
  await within(PUBLISH_PATIENCE_MS, report).catch(() => undefined);
}

/** Random letters and digits that make a post's id unique. */
export function newSuffix(): string {
  return [...systemRandom(SUFFIX_CHARS)].map((byte) => (byte % 32).toString(32)).join('');
}

/** What every way to write needs. */
function writingDeps(pharos: Pharos) {
  const { live, audit, store } = pharos.base;
  return {
    ...{ now, newSuffix, database: store.database, clientOf: audit.clientOf },
    canRun: pharos.publishing.publisher !== null,
    // Reading the site also puts its access rules in force.
    load: (slug: string, candidate?: WritingPageInit['candidate']) =>
      writingPage({ store, readSite: pharos.serving.keeper.refresh }, slug, candidate),
    publish: () => publishWritten(pharos.publishing),
    templatesOf: (slug: string) => live.config().pages.find((page) => page.slug === slug)?.incident_templates ?? [],
  };
}

async function currentPages(pharos: Pharos): Promise<readonly ResolvedPage[]> {
  return (await pharos.serving.keeper.refresh(now())).resolved.pages;
}

/** The operators' form. */
export function createForms(pharos: Pharos): WriteForms {
  return createWriteForms({
    ...writingDeps(pharos),
    random: systemRandom,
    pages: async () =>
      (await currentPages(pharos)).map(({ definition: { slug, title }, identity: { key } }) => ({ slug, title, key })),
  });
}

/** False on a web node with the bucket alone too: only its health and metrics are for operators. */
export function servesOperators({ base, serving }: Pharos): boolean {
  return hasOperators(base.live.config()) && (serving.taking === null || 'url' in base.place);
}

/** Makes the handlers of `/-/v1/` and `/-/intake/`. */
export function createWritingRoutes(pharos: Pharos, guard: OperatorGuard, log: Log) {
  const { live, store } = pharos.base;
  const shared = writingDeps(pharos);
  return {
    api: createApiRoutes({
      ...shared,
      isOn: () => servesOperators(pharos),
      pages: () => currentPages(pharos),
      subscribers: subscriberParts(pharos.base, (slug) => gateVersion(pharos.serving.access.pageOf(slug))),
      access: createApiAccess(createApiTokens(store.database), guard),
      version: packageJson.version,
      siteUrl: live.siteUrl,
    }),
    intake: createIntakeRoute({
      ...shared,
      guard,
      intakeOf: (id) => live.config().intake.find((intake) => intake.id === id) ?? null,
      onUnknown: (intake, component) =>
        log.warn({ intake, component: component.slice(0, 200) }, 'an alert names a component that is not on its page'),
    }),
  };
}

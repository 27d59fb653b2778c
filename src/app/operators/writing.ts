/** The API for operators' posts: stores posts and publishes them. */

import { setTimeout as wait } from 'node:timers/promises';
import packageJson from '../../../package.json' with { type: 'json' };
import { systemRandom } from '../../access/digest.ts';
import { loadWritingPage, type WritingPage, type WritingPageInit } from '../../incidents/writing-page.ts';
import { createApiAccess } from '../../server/operators/api-access.ts';
import { createApiRoutes } from '../../server/operators/api-routes.ts';
import { createIntakeRoute } from '../../server/operators/intake-routes.ts';
import type { OperatorGuard } from '../../server/operators/ops-guard.ts';
import { createWriteForms, type WriteForms } from '../../server/operators/write-routes.ts';
import { createApiTokens } from '../../store/written/tokens.ts';
import { WRITTEN_ID } from '../../sync/connector.ts';
import { now, type Pharos } from '../compose.ts';
import type { Log } from '../log.ts';

/** The post is stored, so the response doesn't wait longer than this for publishing. */
const PUBLISH_PATIENCE_MS = 3_000;
const SUFFIX_CHARS = 5;

/** The page as its operators see it; null: there is none. */
export async function writingPage(
  pharos: Pick<Pharos, 'store' | 'siteState'>,
  slug: string,
  candidate?: WritingPageInit['candidate'],
): Promise<WritingPage | null> {
  const at = now();
  const state = await pharos.siteState(at);
  return loadWritingPage(pharos.store, { state, slug, now: at, ...(candidate === undefined ? {} : { candidate }) });
}

/** Publishes posts at once. */
async function publishWritten({ engine }: Pick<Pharos, 'engine'>): Promise<void> {
  const { report } = engine.submit({ trigger: 'write', upstreams: [WRITTEN_ID], isUrgent: true });
  const late = new AbortController();
  // The engine logs failed runs.
  const patience = wait(PUBLISH_PATIENCE_MS, null, { signal: late.signal, ref: false }).catch(() => null);
  await Promise.race([report.catch(() => null), patience]);
  late.abort();
}

/** Random letters and digits that make a post's id unique. */
export function newSuffix(): string {
  return [...systemRandom(SUFFIX_CHARS)].map((byte) => (byte % 32).toString(32)).join('');
}

/** The operators' form. */
export function createForms(pharos: Pharos): WriteForms {
  return createWriteForms({
    database: pharos.store.database,
    random: systemRandom,
    newSuffix,
    now,
    clientOf: pharos.audit.clientOf,
    canRun: pharos.publisher !== null,
    pages: async () => (await pharos.siteState(now())).resolved.pages.map(({ definition }) => definition),
    templatesOf: (slug) => pharos.config.pages.find((page) => page.slug === slug)?.templates ?? [],
    load: (slug, candidate) => writingPage(pharos, slug, candidate),
    publish: () => publishWritten(pharos),
  });
}

interface WritingRoutes {
  readonly api: ReturnType<typeof createApiRoutes>;
  readonly intake: ReturnType<typeof createIntakeRoute>;
}

/** Makes the handlers of `/-/v1/` and `/-/intake/`. */
export function createWritingRoutes(pharos: Pharos, guard: OperatorGuard, log: Log): WritingRoutes {
  const { database } = pharos.store;
  const shared = {
    canRun: pharos.publisher !== null,
    now,
    clientOf: pharos.audit.clientOf,
    load: (slug: string) => writingPage(pharos, slug),
    publish: () => publishWritten(pharos),
    database,
    newSuffix,
  };
  return {
    api: createApiRoutes({
      ...shared,
      isOn: () => pharos.config.operators.token !== undefined,
      access: createApiAccess(createApiTokens(database), guard),
      version: packageJson.version,
      siteUrl: pharos.siteUrl,
    }),
    intake: createIntakeRoute({
      ...shared,
      intakeOf: (id) => pharos.config.intake.find((intake) => intake.id === id) ?? null,
      onUnknown: (intake, component) =>
        log.warn({ intake, component: component.slice(0, 200) }, 'an alert names a component that is not on its page'),
    }),
  };
}

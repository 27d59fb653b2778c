/** Second of the four builders: who may see which page, and what answers visitors. Nothing listens yet. */

import packageJson from '../../package.json' with { type: 'json' };
import { createAccess } from '../access/create-access.ts';
import { systemRandom } from '../access/digest.ts';
import { createIdentities } from '../access/oidc/identities.ts';
import { createOidc } from '../access/oidc/oidc.ts';
import { messageOf } from '../errors.ts';
import { splitLocale } from '../model/slugs.ts';
import { createDispatcher, createFetch } from '../network/dispatcher.ts';
import { once } from '../once.ts';
import { loadRenderer, type Renderer } from '../publish/draw/renderer.ts';
import { createMetrics } from '../server/operators/metrics.ts';
import { createOpsEvents } from '../server/operators/ops-routes.ts';
import { loginMail, loginView } from '../views/login/login.ts';
import { knownTag } from '../views/words/index.ts';
import type { StoreParts } from './build-store.ts';
import { now } from './clock.ts';
import { createErrorLog } from './log.ts';
import { createTaking } from './nodes/releases.ts';
import { createSiteKeeper } from './site-keeper.ts';
import { releaseBucket } from './targets.ts';

/** Of requests to identity providers, which a visitor waits for: few, and a token can't be asked for twice. */
const PROVIDER_LIMITS = { connectMs: 5_000, headersMs: 5_000, idleMs: 5_000, connectionsMax: 8, isEachAlone: true };

export type ServeParts = ReturnType<typeof buildServe>;

/**
 * @param isKeepingLinks  false: a command that only reads, so links on disk don't change
 * @param isTaking  true: a web node, which takes releases from other nodes
 */
export function buildServe(base: StoreParts, isKeepingLinks: boolean, isTaking: boolean) {
  const { live, database, key, log, closing, publishing } = base;
  const ownRenderer = once(() => loadRenderer(base.components));
  /** Renders a page that belongs to no release. A renderer of this thread is loaded at the first call. */
  const draw: Renderer['render'] = async (kind, view) =>
    (publishing.publisher ?? (await ownRenderer())).render(kind, view);
  const onError = createErrorLog(log);
  const way = createDispatcher({ ...PROVIDER_LIMITS, proxy: base.proxy });
  closing.defer(() => way.close());
  const fetch = createFetch(way);
  const oidc = createOidc({
    ...{ key, random: systemRandom, fetch },
    clients: {
      visitors: () => live.config().access.oidc ?? null,
      operators: () => live.config().operators.oidc ?? null,
    },
    identities: createIdentities({ database, key, fetch, onError, random: systemRandom }),
  });
  const access = createAccess({
    ...{ database, key, now, sendMail: live.sendMail },
    sessionHours: live.config().access.sessionHours,
    ...{ oidc, onError, siteUrl: live.siteUrl },
    renderLogin: (prompt) =>
      draw('login', loginView({ ...prompt, locale: prompt.locale ?? live.config().site.locale })),
    localeOf: (to) => knownTag(splitLocale(to).locale),
    writeMail: loginMail,
  });
  closing.defer(access.close);
  const keeper = createSiteKeeper(base, access, isKeepingLinks, (slugs, state) => {
    log.info({ pages: slugs }, 'pages made private or removed');
    publishing.targets?.withdraw(slugs);
    publishing.publisher?.publishSite(state).catch((error: unknown) => log.error(messageOf(error)));
  });
  const store = isTaking ? releaseBucket(live.config(), base.proxy) : null;
  const copyKey = 'url' in base.place ? null : key;
  const taking = store === null ? null : createTaking(base, keeper, { store, copyKey });
  if (taking !== null) closing.defer(taking.close);
  return {
    ...{ access, draw, keeper, oidc },
    metrics: createMetrics(packageJson.version),
    /** Live updates for open operators' pages. */
    events: createOpsEvents(),
    /** Null: this node renders its own releases, or has none. */
    taking,
  };
}

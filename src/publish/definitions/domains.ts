/** Assigns custom domains to pages. */

import { HOST_NAME } from '../../model/scalars.ts';
import type { Draft } from './drafts.ts';
import type { DefinitionProblem, SiteSettings } from './inputs.ts';

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1']);

/**
 * A host belongs to one page at most, and never the site's own host or a loopback address. If two pages claim it, the
 * configured one gets it; otherwise none.
 */
export function settleDomains(
  drafts: readonly Draft[],
  site: SiteSettings,
  problems: DefinitionProblem[],
): readonly Draft[] {
  const siteHost = new URL(site.url).hostname.toLowerCase();
  const hostOf = ({ definition: { customDomain } }: Draft): string | null => customDomain?.toLowerCase() ?? null;
  const isConfigured = ({ config }: Draft): boolean => typeof config?.custom_domain === 'string';
  const refusalOf = (draft: Draft, host: string): string | null => {
    if (!HOST_NAME.test(host)) return 'is not a host name';
    if (host === siteHost || LOOPBACK_HOSTS.has(host)) return 'is the address of the site itself';
    const rivals = drafts.filter((other) => other !== draft && hostOf(other) === host);
    if (rivals.length === 0 || (isConfigured(draft) && !rivals.some(isConfigured))) return null;
    return `is claimed by ${rivals.map(({ definition }) => definition.slug).join(', ')} too`;
  };
  return drafts.map((draft) => {
    const host = hostOf(draft);
    if (host === null) return draft;
    const refusal = refusalOf(draft, host);
    if (refusal !== null) {
      const { slug } = draft.definition;
      problems.push({ slug, message: `Its custom domain ${host} ${refusal}. The page is served at /${slug}/ only.` });
    }
    return { ...draft, definition: { ...draft.definition, customDomain: refusal === null ? host : null } };
  });
}

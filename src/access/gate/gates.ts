/** The configured gates: in memory for decisions, and in the store for what must survive a restart. */

import { createHmac } from 'node:crypto';
import { BlockList, isIPv6 } from 'node:net';
import pLimit from 'p-limit';
import { noPageKey, type PageKey } from '../../model/slugs.ts';
import type { Database } from '../../store/database.ts';
import type { AccessPage, GatedPage } from '../access.ts';
import { newToken, type RandomBytes } from '../digest.ts';
import { forgetOtherGates, gateKind, isUnchanged, readGate, recordGate, type StoredGate } from './stored-gate.ts';

interface KnownPage {
  readonly page: AccessPage;
  readonly gated: GatedPage;
}

/** Simultaneous password checks: each occupies a thread of the pool that also reads files. */
export const HASHES_AT_ONCE = 2;
const differs = (isReadOnly = false): string =>
  `its password or email domains differ from those in the database, which ${isReadOnly ? 'is read-only here. Run "pharos start" where it can be written.' : 'another node wrote. Give all nodes the same configuration.'}`;

export type GateKinds = ReturnType<typeof gateKinds>;
export type Gates = ReturnType<typeof createGates>;

/** @param onError  called for a gate that stays closed because it cannot be stored */
export function createGates(database: Database, random: RandomBytes, onError: (error: unknown, where: string) => void) {
  // Key for detecting changed gates without keeping their passwords; useless outside this process.
  const key = Buffer.from(random(32));
  const pages = new Map<string, KnownPage>();
  /** Fingerprints of gates whose version is known, by slug. */
  const settled = new Map<string, string>();
  /** Stored gates known to differ from ours, so that their passwords are not compared again. */
  const foreign = new Map<string, { readonly page: AccessPage; readonly version: string }>();
  let kinds = gateKinds([]);
  let before: ReadonlySet<PageKey> = new Set();
  const inTurn = pLimit(1);

  /** Takes over the pages at once; pages with a new or changed gate stay closed until its version is known. */
  function announce(wanted: readonly AccessPage[]): void {
    const slugs = new Set(wanted.map(({ slug }) => slug));
    for (const slug of [...pages.keys()].filter((known) => !slugs.has(known))) {
      pages.delete(slug);
      settled.delete(slug);
      foreign.delete(slug);
    }
    for (const page of wanted) {
      const { slug, access } = page;
      const known = pages.get(slug);
      const isSettled = access !== 'public' && known !== undefined && settled.get(slug) === fingerprint(key, page);
      if (!isSettled) settled.delete(slug);
      pages.set(slug, { page, gated: isSettled ? known.gated : newGate(page, random) });
    }
    kinds = gateKinds(wanted);
  }

  async function settle(wanted: readonly AccessPage[], waiting: readonly string[]): Promise<void> {
    const gated = wanted.filter(({ access }) => access !== 'public');
    if (!database.isReadOnly) before = await forgetOtherGates(database, gated, { before, waiting });
    // Hashing a password takes one core a tenth of a second.
    await pLimit(HASHES_AT_ONCE).map(gated, settleOne);
  }

  async function settleOne(page: AccessPage): Promise<void> {
    const { slug, access } = page;
    // A later call may have replaced or removed it in the meantime.
    if (access === 'public' || pages.get(slug)?.page !== page || settled.has(slug)) return;
    if (database.isReadOnly) await agree(slug);
    else take(page, await recordGate(database, page, random));
  }

  /** Opens a gate with its version, unless it was replaced in the meantime. */
  function take(page: AccessPage, version: string): void {
    const { slug, access } = page;
    if (access === 'public' || pages.get(slug)?.page !== page) return;
    pages.set(slug, { page, gated: closedBy(page, access, version) });
    settled.set(slug, fingerprint(key, page));
  }

  /**
   * Compares the gate with the stored one and returns that. Skips gates that are still being written, if the store is
   * writable.
   */
  async function agree(slug: string): Promise<StoredGate | null> {
    const known = pages.get(slug);
    const stored = await readGate(database, known?.page.key ?? noPageKey(slug));
    if (known === undefined || known.gated.gate.kind === 'public') return stored;
    if (!settled.has(slug) && !database.isReadOnly) return stored;
    const { page } = known;
    if (stored === null) {
      if (database.isReadOnly) return null;
      take(page, await recordGate(database, page, random));
      return readGate(database, page.key);
    }
    const { version } = stored;
    const seen = foreign.get(slug);
    if (version === known.gated.gate.version || (seen?.page === page && seen.version === version)) return stored;
    if (await isUnchanged(stored, page)) take(page, version);
    else {
      foreign.set(slug, { page, version });
      onError(new Error(`Nobody can sign in to ${slug}: ${differs(database.isReadOnly)}`), 'gates');
    }
    return stored;
  }

  return {
    /**
     * Sets the pages, resolved from configuration and upstreams; call it whenever they change. Sessions of changed gates
     * end at once. A page with a new or changed gate is closed to everybody until the promise resolves.
     *
     * @param waiting  slugs of pages hidden for now; their sessions are kept if they return with the same gate
     *
     * @throws STORE_UNAVAILABLE those gates stay closed; call again
     */
    setPages: (wanted: readonly AccessPage[], waiting: readonly string[] = []) => {
      announce(wanted);
      return inTurn(settle, wanted, waiting);
    },
    /** Shows pages known to be public before the store could be read; `setPages` then sets all pages. */
    showPublic: (slugs: readonly string[]) => {
      for (const page of slugs.map(publicPage)) pages.set(page.slug, { page, gated: newGate(page, random) });
    },
    /** Closes public pages to everybody until `setPages` is called. @returns whether one of the pages was public */
    closePublic: (closed: readonly { readonly slug: string }[]) =>
      closed.filter(({ slug }) => pages.get(slug)?.page.access === 'public' && pages.delete(slug)).length > 0,
    find: (slug: string): KnownPage | null => pages.get(slug) ?? null,
    /** The key under which data of a slug's page is stored; a key without data if the page is unknown. */
    keyOf: (slug: string): PageKey => pages.get(slug)?.page.key ?? noPageKey(slug),
    /** Null: the page is unknown. */
    slugOf: (key: PageKey): string | null => pages.values().find(({ page }) => page.key === key)?.page.slug ?? null,
    isEmpty: (): boolean => pages.size === 0,
    /** Whether any gate is stored for the page. */
    isStored: async (slug: string) => (await readGate(database, pages.get(slug)?.page.key ?? noPageKey(slug))) !== null,
    /**
     * Like `find`, but compares the gate with the stored one first. Another node with an older configuration, or a
     * restored backup, may have lost the gate or given it another version. If the stored gate has the same password or
     * domains, its version is taken over; if none is stored, ours is written. If they differ (`isForeign`), the page stays
     * closed here, and a session for the stored one wouldn't open it.
     */
    current: async (slug: string) => {
      const [stored, known, seen] = [await agree(slug), pages.get(slug), foreign.get(slug)];
      const isForeign = seen !== undefined && seen.page === known?.page && seen.version === stored?.version;
      return known === undefined ? null : { ...known, stored, isForeign };
    },
    /** The kinds of gate that at least one page of the site has. */
    kinds: () => kinds,
  };
}

/** A gate with a new version, for which no session exists. */
function newGate(page: AccessPage, random: RandomBytes): GatedPage {
  const { key, access } = page;
  return access === 'public' ? { key, gate: { kind: access } } : closedBy(page, access, newToken(random));
}

function closedBy({ key, addresses }: AccessPage, kind: Exclude<AccessPage['access'], 'public'>, version: string) {
  if (addresses === undefined) return { key, gate: { kind, version, addresses: null } };
  const list = new BlockList();
  for (const range of addresses.ranges) {
    const [net = '', prefix] = range.split('/');
    const family = isIPv6(net) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(net, family);
    else list.addSubnet(net, Number(prefix), family);
  }
  const includes = (address: string): boolean =>
    address !== '' && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return { key, gate: { kind, version, addresses: { isEnough: kind === 'ip' || addresses.isEnough, includes } } };
}

function gateKinds(pages: readonly AccessPage[]) {
  const has = (access: AccessPage['access']): boolean => pages.some((page) => page.access === access);
  return { hasPassword: has('password'), hasEmail: has('email-domain'), hasOidc: has('oidc') };
}

/** A page of which only its slug is known, and that it is public. */
export function publicPage(slug: string): AccessPage {
  const key = noPageKey(slug);
  return { key, slug, title: slug, locale: 'en', url: '/', access: 'public', password: null, emailDomains: [] };
}

function fingerprint(key: Buffer, page: AccessPage): string {
  const secret = page.access === 'password' ? [page.password?.reveal()] : page.emailDomains.toSorted();
  const facts = JSON.stringify([page.key, gateKind(page), secret]);
  return createHmac('sha256', key).update(facts).digest('base64url');
}

/** One thing that happens to a site, and who reads what before, between and after the looks that its nodes take at it. */

import { isStatusError } from '../../../src/errors.ts';
import { HOUR_MS } from '../../../src/model/time.ts';
import {
  begin,
  bringToWeb,
  configOf,
  judge,
  loseDatabase,
  type NodeName,
  newWord,
  pull,
  restore,
  rollBack,
  type Site,
  takeBackup,
  WRITER,
} from './machine.ts';
import { adopt, type Credential, giveOut, noteKeys, writePost } from './posts.ts';
import type { Visitors } from './visitors.ts';
import {
  ALL_SLUGS,
  ASKED,
  type Asked,
  CONFIG_GATES,
  type ConfigPage,
  HOSTS,
  KINDS,
  type Kind,
  PROVIDED_GATES,
  type Seen,
  SHAPES,
  SLUGS,
  UPSTREAM_GATES,
  UPSTREAM_OF,
} from './world.ts';

/** Below `count`, evenly. */
export type Chance = (count: number) => number;

/** The same numbers for the same seed (mulberry32). */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  return (count) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count;
  };
}

const FOLDER_MS_MAX = 60_000;

export interface Course {
  readonly site: Site;
  readonly visitors: Visitors;
  readonly chance: Chance;
  /** Moves the clock. */
  readonly pass: (ms: number) => void;
  readonly history: string[];
  /** Whether the upstream cannot be reached. */
  isAway: boolean;
}

const of = <Item>(chance: Chance, items: readonly Item[]): Item => items[chance(items.length)] as Item;

interface Change {
  readonly name: string;
  readonly isConfig?: boolean;
  readonly isUpstream?: boolean;
}

/** What an operator does to the configuration; null: there is nothing to do it to. */
const OPERATOR: readonly ((course: Course) => string | null)[] = [
  configGate,
  configGate,
  configGate,
  configGate,
  // Away with the page of the configuration, or back with it.
  ({ site, chance }) => {
    const { own, ...others } = site.configured;
    site.configured =
      own === undefined
        ? { ...others, own: { ...newPage(site), slug: of(chance, SLUGS.own), gate: of(chance, CONFIG_GATES) } }
        : others;
    return own === undefined ? 'add own' : 'remove own';
  },
  ({ site, chance }) => editConfig(site, 'own', { slug: of(chance, SLUGS.own) }),
  ({ site, chance }) => editConfig(site, 'over', { slug: of(chance, SLUGS.over) }),
  ({ site, chance }) => editConfig(site, 'over', { from: of(chance, BASES) }),
  ({ site, chance }) => editConfig(site, of(chance, ['over', 'own']), { domain: of(chance, [null, ...HOSTS]) }),
  ({ site, chance }) => {
    site.roles = { token: of(chance, ALL_SLUGS), people: of(chance, ALL_SLUGS) };
    return `writers of ${JSON.stringify(site.roles)}`;
  },
  ({ site, chance }) => {
    site.home = of(chance, [null, ...ALL_SLUGS]);
    return `home ${site.home}`;
  },
];

const BASES = (['over', ...ASKED] as const).flatMap((kind) =>
  SLUGS[kind].map((slug) => `${UPSTREAM_OF[kind]}/${slug}`),
);

/** What becomes of the pages at the upstreams. */
const THERE: readonly ((course: Course) => string | null)[] = [
  upstreamGate,
  upstreamGate,
  upstreamGate,
  ({ site, chance }) => editThere(site, of(chance, THOSE_THERE), chance),
  askedGate,
  askedGate,
  askedGate,
  ({ site, chance }) => {
    const kind = of(chance, THOSE_THERE);
    const { [kind]: page, ...others } = site.there.pages;
    const shape = kind === 'plan' || kind === 'live' ? { shape: of(chance, SHAPES[kind]) } : {};
    const domain = of(chance, [null, null, ...HOSTS]);
    const added = {
      slug: of(chance, SLUGS[kind]),
      gate: of(chance, UPSTREAM_GATES),
      word: newWord(site),
      domain,
      ...shape,
    };
    site.there.pages = page === undefined ? { ...others, [kind]: added } : others;
    return `${page === undefined ? 'add' : 'remove'} ${kind} there`;
  },
  () => 'other words',
];

function configGate({ site, chance }: Course): string | null {
  return editConfig(site, of(chance, ['over', 'own']), { gate: of(chance, CONFIG_GATES) });
}

/** Whoever is let in by it may lose that later. */
function gateByProvider({ site, chance }: Course): string {
  const own = site.configured.own ?? { ...newPage(site), slug: of(chance, SLUGS.own) };
  const gate = of(chance, PROVIDED_GATES);
  site.configured = { ...site.configured, own: { ...own, gate, word: newWord(site) } };
  return `own: ${JSON.stringify(gate)}, ${site.people.admit(chance)}`;
}

function upstreamGate({ site, chance }: Course): string | null {
  const kind = of(chance, ['bare', 'over'] as const);
  const page = site.there.pages[kind];
  if (page === undefined) return null;
  const gate = of(chance, UPSTREAM_GATES);
  site.there.pages = { ...site.there.pages, [kind]: { ...page, gate } };
  return `${kind} there: ${JSON.stringify(gate)}`;
}

const THOSE_THERE = ['bare', 'over', ...ASKED] as const;

function askedGate({ site, chance }: Course): string | null {
  const kind = of(chance, ASKED);
  const page = site.there.pages[kind];
  if (page === undefined) return null;
  const shape = of(chance, SHAPES[kind]);
  site.there.pages = { ...site.there.pages, [kind]: { ...page, shape } };
  return `${kind} there: ${shape.name}`;
}

function newPage(site: Site): ConfigPage {
  return { slug: 'qsowna', from: null, gate: {}, domain: HOSTS[0], word: newWord(site) };
}

function editConfig(site: Site, kind: 'over' | 'own', change: Partial<ConfigPage>): string | null {
  const page = site.configured[kind];
  if (page === undefined) return null;
  site.configured = { ...site.configured, [kind]: { ...page, ...change, word: newWord(site) } };
  return `${kind}: ${JSON.stringify(change)}`;
}

function editThere(site: Site, kind: Kind | Asked, chance: Chance): string | null {
  const page = site.there.pages[kind];
  if (page === undefined) return null;
  const slug = of(chance, SLUGS[kind]);
  site.there.pages = { ...site.there.pages, [kind]: { ...page, slug } };
  return `${kind} there is called ${slug}`;
}

/** What happens to the machines. */
const MACHINES: readonly ((course: Course) => Promise<string>)[] = [
  async ({ site }) => restart(site, 'main'),
  async ({ site, visitors }) => {
    await restart(site, 'beside');
    // As when the database cannot be read at the start.
    site.nodes.beside.pharos.serving.keeper.showLastPublished();
    await visitors.read(site.nodes.beside, site.seen, new Set());
    return 'restart beside';
  },
  async ({ site, chance }) => restart(site, of(chance, ['other', 'web'])),
  async ({ site, chance }) => (await adopt(site, of(chance, ALL_SLUGS), chance)) ?? 'nothing to adopt',
  async ({ site, chance }) => {
    const slug = of(chance, ALL_SLUGS);
    return `roll back ${slug}: ${await rollBack(site, slug)}`;
  },
  async ({ site, chance }) => {
    const slug = of(chance, ALL_SLUGS);
    return `roll back ${slug}: ${await rollBack(site, slug)}`;
  },
  async ({ site }) => {
    if (site.known === null) return 'no backup';
    await takeBackup(site);
    return 'backup';
  },
  async ({ site, chance }) => {
    if (site.backup === null) return 'nothing to restore';
    const isWhole = chance(2) === 0;
    await restore(site, isWhole);
    return isWhole ? 'restore everything' : 'restore the database';
  },
  async ({ site, chance }) => {
    if (chance(3) > 0) return 'calm';
    // What it has of before is all that is known then.
    await site.nodes.other.publish(true);
    await loseDatabase(site);
    return 'lose the database';
  },
];

async function restart(site: Site, name: NodeName): Promise<string> {
  await site.nodes[name].close();
  await begin(site, name);
  return `restart ${name}`;
}

/** About half of what is said is new: what is read later tells when it was written. */
function say({ site, chance }: Course): void {
  for (const kind of [...KINDS, ...ASKED]) {
    if (chance(2) === 0) continue;
    if (kind !== 'plan' && kind !== 'live') site.there.texts[kind] = newWord(site);
    const page = site.there.pages[kind];
    if (page !== undefined) site.there.pages = { ...site.there.pages, [kind]: { ...page, word: newWord(site) } };
  }
}

/** @param ended  resolves when no run is under way, as before a machine is touched */
async function decide(course: Course, ended: () => Promise<void>): Promise<Change> {
  const { site, visitors, chance } = course;
  const kind = chance(12);
  const held = visitors.held();
  if (kind >= 10 && held.some(({ slug }) => slug !== '')) {
    if (chance(6) === 0) return { name: await visitors.endSessions(chance) };
    const { name, isLeaving } = site.people.change(chance, held);
    // What the provider said is believed for an hour.
    const isLong = chance(isLeaving ? 4 : 2) > 0;
    if (isLong) course.pass(HOUR_MS);
    return { name: isLong ? `${name}, an hour passes` : name };
  }
  if (kind < 4 || kind >= 10) {
    const { configured, home, roles } = site;
    const name = kind < 4 ? of(chance, OPERATOR)(course) : gateByProvider(course);
    if (name === null) return { name: 'nothing' };
    try {
      configOf(site, 'main');
      return { name, isConfig: true };
    } catch (error) {
      if (!isStatusError(error)) throw error;
      // Such a configuration is refused; the one before stays.
      Object.assign(site, { configured, home, roles });
      return { name: `${name} is refused` };
    }
  }
  if (kind < 7) return { name: of(chance, THERE)(course) ?? 'nothing', isUpstream: true };
  if (kind < 8) {
    course.isAway = !course.isAway;
    return { name: course.isAway ? 'the upstream is away' : 'the upstream is back', isUpstream: true };
  }
  await ended();
  return { name: await of(chance, MACHINES)(course) };
}

/** Asks the upstream, unless it is away. */
async function pullWords(course: Course): Promise<void> {
  const { site, visitors } = course;
  if (course.isAway) return;
  // No two answers come in the same instant.
  course.pass(10);
  say(course);
  await pull(site);
  judge(site);
  visitors.note(site);
}

/** What closed has left a static host soon; this machine may be busy, and an update that was under way ends first. */
async function settledFolder(read: () => void): Promise<void> {
  const deadline = performance.now() + FOLDER_MS_MAX;
  for (;;) {
    try {
      read();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((later) => setTimeout(later, 20));
    }
  }
}

/** One step of the history. @throws whatever somebody saw who should not have */
export async function takeStep(course: Course): Promise<void> {
  const { site, visitors, chance, history, pass } = course;
  // Now and then long enough for pages to be due without news.
  pass(1_000 * (1 + chance(chance(6) === 0 ? 3_000 : 60)));
  const before = site.seen;
  site.posts.replaced.clear();
  visitors.judgePosts(false);
  await noteKeys(site);
  await keep(course);
  if (chance(3) === 0) await pullWords(course);
  // A run that is under way while it happens; the machines are only touched when nothing is.
  const publishing = chance(6) === 0 ? beginRun(course) : null;
  const change = await decide(course, async () => publishing?.());
  if (publishing === null) history.push(change.name);
  else history.push(`${change.name}, during a run`);
  const { nodes } = site;
  judge(site);
  visitors.note(site);
  if (change.isConfig === true) await reload(course, before);
  if (change.isUpstream === true || chance(2) === 0) await pullWords(course);
  judge(site);
  visitors.note(site);
  const { seen } = site;
  const changed = changedSlugs(before, seen);
  await nodes.main.look();
  await nodes.main.targetsSettled();
  await visitors.read(nodes.main, seen, changed);
  await settledFolder(() => visitors.readFolder(site.out, seen));
  await visitors.read(nodes.beside, seen, new Set());
  await publishing?.();

  const isPublished = chance(8) > 0;
  if (isPublished) {
    const failed = await nodes.main.publish(chance(5) > 0);
    if (failed.length > 0) throw new Error(`not published: ${failed.join('; ')}`);
  }
  visitors.judgePosts(isPublished && site.known !== null);
  await nodes.main.targetsSettled();
  await visitors.read(nodes.main, seen, changed);
  await settledFolder(() => visitors.readFolder(site.out, seen));
  await visitors.read(nodes.beside, seen, new Set());
  for (const name of ['beside', 'other'] as const) {
    if (change.isConfig === true) await nodes[name].pharos.publishing.reconfigure(configOf(site, name));
    await nodes[name].look();
    // The other machine serves what it published last itself.
    if (name === 'other') visitors.judgePosts(false);
    await visitors.read(nodes[name], seen, changed);
  }
  const takesPart = chance(3) === 0;
  visitors.judgePosts(takesPart && site.known !== null);
  if (takesPart) {
    await nodes.other.publish(true);
    await visitors.read(nodes.other, seen, changed);
  }
  if (change.isConfig === true) await nodes.web.pharos.publishing.reconfigure(configOf(site, 'web'));
  await visitors.present(nodes.main, chance);
  const isBrought = isPublished && site.known !== null && chance(4) === 0;
  if (isBrought) {
    await bringToWeb(site);
    visitors.judgePosts(true);
    await visitors.read(nodes.web, seen, changed);
  }
  if (!isPublished || site.known === null) return;
  const shown = [nodes.main, nodes.beside, ...(takesPart ? [nodes.other] : []), ...(isBrought ? [nodes.web] : [])];
  // Who is in by the provider stays in only as long as it says so, so others come after them.
  const entered = new Set([...changed, ...ALL_SLUGS.filter((slug) => seen.get(slug)?.gate.includes('oidc:') === true)]);
  for (const node of shown) for (const slug of entered) await visitors.comeIn(node, site, slug);
  await visitors.readMails(before);
}

/** Somebody writes on a page, with the token of whatever page, or is given something of one. */
async function keep({ site, chance, history }: Course): Promise<void> {
  // Mostly where a page is, so that what is written there outlives its gates.
  const slug = of(chance, chance(4) > 0 && site.seen.size > 0 ? [...site.seen.keys()] : ALL_SLUGS);
  const { apiTokens } = site.posts;
  if (chance(3) === 0) {
    const named: Credential = { slug: site.roles.token, era: 'named', token: WRITER, isNamed: true };
    const credential: Credential | undefined = chance(3) === 0 ? undefined : of(chance, [...apiTokens, named]);
    const word = await writePost(site, slug, credential ?? null);
    if (word !== null) history.push(`post ${word}`);
  }
  if (chance(4) !== 0) return;
  const given = await giveOut(site, slug, of(chance, ['api', 'badge', 'subscription', 'subscription'] as const));
  if (given !== null) history.push(given);
}

/** Another configuration, while visitors keep asking. */
async function reload({ site, visitors, chance }: Course, before: Seen): Promise<void> {
  const { main } = site.nodes;
  let isOver = false;
  const reloaded = main.pharos.publishing.reconfigure(configOf(site, 'main')).finally(() => {
    isOver = true;
  });
  const isAsked = chance(3) === 0;
  while (isAsked && !isOver) {
    await visitors.readDuring(main, [before, site.seen]);
    // Answers need nothing else of this thread; the reload does.
    await new Promise((later) => setImmediate(later));
  }
  await reloaded;
}

/** Begins to publish; gives what waits for the end, however it ends. */
function beginRun({ site }: Course): () => Promise<void> {
  const { main } = site.nodes;
  const run = main.publish(true).then(
    () => undefined,
    () => undefined,
  );
  return () => run;
}

function changedSlugs(before: Seen, after: Seen): Set<string> {
  return new Set(ALL_SLUGS.filter((slug) => JSON.stringify(before.get(slug)) !== JSON.stringify(after.get(slug))));
}

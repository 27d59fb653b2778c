/** Reads every surface as nobody and with the sessions that were ever given out, and tells of what should not be there. */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { servedRelease } from '../../../src/publish/releases/folders.ts';
import { readManifest } from '../../../src/publish/releases/manifest.ts';
import { type Site, WRITER } from './machine.ts';
import type { Answer, Node, Question } from './nodes.ts';
import { ACCOUNT_NAMES, type Account } from './people.ts';
import { type Era, entering, eraOf, isOf, mayReadPost } from './posts.ts';
import {
  ALL_SLUGS,
  HOSTS,
  isOpenTo,
  nowhere,
  OFFICE_ADDRESS,
  PASSWORDS,
  type Reader,
  type Seen,
  type Session,
} from './world.ts';

/** Somebody who has signed in to nothing. */
const AT_OFFICE: Session = { slug: '', gate: '', era: '', cookie: '', isAtOffice: true };

export interface Visitors {
  /** Takes down what may be known of from here on. */
  readonly note: (site: Site) => void;
  /** Reads everything of the pages in `closely`, one address of each kind of all others. */
  readonly read: (node: Node, seen: Seen, closely: ReadonlySet<string>) => Promise<void>;
  /** Reads while it changes who may see what: nothing that neither the one nor the other allows. */
  readonly readDuring: (node: Node, seen: readonly Seen[]) => Promise<void>;
  /** `isJudged`: what is read from here on is published, so posts are judged too. */
  readonly judgePosts: (isJudged: boolean) => void;
  /** Reads the files of the static host. */
  readonly readFolder: (folder: string, seen: Seen) => void;
  /** Whoever may see a page gets in and sees it. */
  readonly comeIn: (node: Node, site: Site, slug: string) => Promise<void>;
  /** Presents tokens and links of mails at the addresses of all pages. */
  readonly present: (node: Node, chance: (count: number) => number) => Promise<void>;
  /** Reads what subscribers were sent, by what they might see since `before`. */
  readonly readMails: (before: Seen) => Promise<void>;
  /** Sessions by the provider that open something now, of visitors and operators. */
  readonly held: () => readonly Session[];
  /** The provider ends all sessions of somebody. */
  readonly endSessions: (chance: (count: number) => number) => Promise<string>;
  /** Answers that showed something, so that it is known that something was looked at. */
  readonly shown: () => number;
}

/** One of each kind; what releases list comes to it. */
const FILES = [
  'index.html',
  'history/index.html',
  'feed.atom',
  'feed.rss',
  'feed.json',
  'calendar.ics',
  'api/v2/summary.json',
  'api/v2/incidents.json',
  'api/v2/components.json',
  'api/state.json',
  'api/now.json',
  'api/uptime.json',
  'badges/status.svg',
  'badges/card.svg',
  'embed/index.html',
  'index.html.gz',
];
const OF_SITE = ['', 'index.html', 'llms.txt', 'sitemap.xml', 'robots.txt', '404.html', '_headers', '_site/index.html'];
/** Standing alone, since random ids and signatures are made of the same letters. */
const WORD = /(?<![A-Za-z0-9+])qx\d+z(?![A-Za-z0-9+])/g;
const SLUG = /qs[a-z]{4,5}/g;
/** The sealed part of a ledger, in which any letters stand by chance. */
const ENCRYPTED = /[A-Za-z0-9+/_-]{100,}={0,2}/g;
const LOG = /(?:^|\/)(?:log|verify)\//;
const TEXTS_KEPT = 2_000;
const SESSIONS_KEPT = 12;
const WRITERS_KEPT = 3;
/** Until a mail has to be there; this machine may be busy. */
const MAIL_MS_MAX = 60_000;

/** Mails that were to be sent, newest last. */
export type Mails = readonly { readonly to: string; readonly text: string }[];

export function createVisitors(site: Site, mails: Mails): Visitors {
  /** By word, the pages on which anybody could read it, and on which somebody could. */
  const open = new Map<string, Map<Era, string>>();
  const known = new Map<string, Map<Era, string>>();
  const sessions: Session[] = [];
  /** Of operators by the identity provider: cookies of the first node. */
  const writers: Session[] = [];
  const paths = new Set(FILES);
  const wordsIn = matchesOf(WORD);
  const slugsIn = matchesOf(SLUG);
  const filesRead = new Map<string, { stamp: string; words: readonly string[]; slugs: readonly string[] }>();
  let mailsRead = mails.length;
  let shown = 0;
  let isJudged = false;

  const pagesOf = (word: string, from: typeof open): [Era, string][] =>
    [...(from.get(word) ?? [])].filter(([era, slug]) => isOf(site.posts, era, slug));

  function mayRead(word: string, seen: Seen, reader: Reader | null): boolean {
    const author = site.posts.authors.get(word);
    if (author !== undefined) return reader?.isAuthor === true && isOf(site.posts, author, reader.slug);
    const verdict = mayReadPost(site.posts, word, { seen, reader });
    if (verdict !== null) return verdict || !isJudged;
    if (pagesOf(word, open).some(([, slug]) => seen.get(slug)?.gate === 'public')) return true;
    return pagesOf(word, known).some(([, slug]) => {
      const gate = seen.get(slug)?.gate;
      return gate !== 'public' && isOpenTo(entering(site.posts, reader, slug), slug, gate);
    });
  }

  /** As the session stands now: what the provider said may not be believed any more. */
  const current = (session: Session): Session => ({
    ...session,
    isOver: session.endedIn === site.posts.database || site.people.isOver(session),
  });

  function mayKnowOf(slug: string, seen: Seen, reader: Reader | null): boolean {
    return isOpenTo(entering(site.posts, reader, slug), slug, seen.get(slug)?.gate);
  }

  /** The log of a page that another one adopted goes on under the name with which it began. */
  function isNameOfLog(slug: string, path: string): boolean {
    return LOG.test(path) && [...site.posts.eras].some(([at, { era }]) => at !== slug && era.split(' ')[1] === slug);
  }

  function inspect(node: Node, seens: readonly Seen[], { question, answer, reader }: Reading): void {
    const head = answer.headers.join('\n');
    const where = `${node.name} ${question.host ?? ''}${question.path} to ${reader === null ? 'nobody' : `a reader of ${reader.era} ${reader.gate}`}`;
    for (const word of new Set([...wordsIn(head), ...wordsIn(answer.body)])) {
      shown += 1;
      // The way back after signing in repeats the address.
      if (!question.path.includes(word) && !seens.some((seen) => mayRead(word, seen, reader)))
        throw new Error(
          `LEAK: ${where} shows ${word} of ${[...(known.get(word)?.keys() ?? ['nowhere'])].join()}: …${around(`${head}\n${answer.body}`, word)}…`,
        );
    }
    for (const slug of new Set([...slugsIn(head), ...slugsIn(answer.body)]))
      if (
        ALL_SLUGS.includes(slug) &&
        !question.path.includes(slug) &&
        !isNameOfLog(slug, question.path) &&
        !seens.some((seen) => mayKnowOf(slug, seen, reader))
      )
        throw new Error(`LEAK: ${where} names ${slug}`);
    if (answer.status >= 500 && answer.status !== 503) throw new Error(`${where}: ${answer.status} ${answer.body}`);
  }

  interface Reading {
    readonly question: Question;
    readonly answer: Answer;
    readonly reader: Reader | null;
  }

  async function ask(node: Node, seen: Seen, question: Question, session: Session | null = null): Promise<Answer> {
    const from = session?.isAtOffice === true ? { from: OFFICE_ADDRESS } : {};
    const asked = session === null ? question : { ...question, cookie: session.cookie, ...from };
    const answer = await node.ask(asked);
    inspect(node, [seen], { question, answer, reader: session });
    return answer;
  }

  /** What a page that somebody may not know of answers is what a page answers that never was, to the byte. */
  async function compare(
    node: Node,
    seen: Seen,
    { slug, ...question }: Question & { readonly slug: string },
    reader: Reader | null,
  ) {
    const answer = await node.ask(question);
    inspect(node, [seen], { question, answer, reader });
    if (mayKnowOf(slug, seen, reader)) return;
    const other = await node.ask({ ...question, path: question.path.replace(slug, nowhere(slug)) });
    const [one, two] = [answer, other].map((told) =>
      JSON.stringify(told).replaceAll(slug, '').replaceAll(nowhere(slug), ''),
    );
    if (one !== two)
      throw new Error(`LEAK: ${node.name} ${question.path} is told from a page that never was: ${one} ${two}`);
  }

  /** The page at a slug to whoever holds something of a page. */
  function readerOf({ slug, era }: { readonly slug: string; readonly era: Era }, at: string, seen: Seen): Reader {
    const isThere = slug === at || isOf(site.posts, era, at);
    const gate = isThere ? (seen.get(at)?.gate ?? '') : 'none';
    return { slug: isThere ? at : slug, era, gate, isAtOffice: isThere };
  }

  function learnPaths({
    pharos: {
      base: { folders },
    },
  }: Node): void {
    for (const slug of ALL_SLUGS) {
      const served = servedRelease(folders, slug);
      const manifest = served === null ? null : readManifest(folders, slug, served.number);
      for (const path of Object.keys(manifest?.files ?? {})) paths.add(path);
    }
  }

  return {
    judgePosts: (judged) => {
      isJudged = judged;
    },
    note: ({ seen, posts }) => {
      for (const [slug, { gate, words }] of seen)
        for (const word of words)
          for (const into of gate === 'public' ? [open, known] : [known])
            into.getOrInsertComputed(word, () => new Map()).set(eraOf(posts, slug), slug);
    },
    readDuring: async (node, seens) => {
      for (const slug of ALL_SLUGS)
        for (const path of ['', 'feed.atom', 'subscribe/', 'login/']) {
          const question = { path: `/${slug}/${path}` };
          inspect(node, seens, { question, answer: await node.ask(question), reader: null });
        }
    },
    present: async (node, chance) => {
      const { seen, posts } = site;
      const operator = ACCOUNT_NAMES[chance(ACCOUNT_NAMES.length)] as Account;
      if (chance(4) === 0 && site.people.isThere(operator)) await signInOperator(node, operator);
      // All of them in a few steps.
      const slugs = ALL_SLUGS.filter((_, index) => index % 3 === site.words % 3);
      const some = <One>(list: readonly One[]): One[] =>
        list.slice(-2).concat(list.length > 4 ? (list[chance(list.length)] ?? []) : []);
      for (const slug of slugs) {
        for (const path of [
          '',
          'feed.atom',
          'subscribe/',
          'subscribe/manage/?token=none',
          'badges/status.svg?token=none',
        ])
          await compare(node, seen, { path: `/${slug}/${path}`, slug }, null);
        for (const one of some(posts.subscriptions)) {
          const reader = readerOf(one, slug, seen);
          const domains = reader.gate.split('email:')[1]?.split(',') ?? [];
          const isTold = reader.gate === 'public' || domains.includes(one.email.split('@')[1] ?? '');
          const told = isTold ? reader : { ...reader, gate: 'none', isAtOffice: false };
          for (const [step, token] of [
            ['confirm', one.confirm],
            ['manage', one.manage],
            ['leave', one.manage],
          ])
            await compare(node, seen, { path: `/${slug}/subscribe/${step}/?token=${token}`, slug }, told);
          if (chance(30) > 0) continue;
          await compare(node, seen, { path: `/${slug}/subscribe/leave/`, form: { token: one.manage }, slug }, told);
          posts.subscriptions.splice(posts.subscriptions.indexOf(one), 1);
        }
        for (const one of some(posts.badgeTokens))
          await compare(
            node,
            seen,
            { path: `/${slug}/badges/status.svg?token=${one.token}`, slug },
            readerOf(one, slug, seen),
          );
        const writer = (at: string): Reader | null =>
          at === slug
            ? { slug, era: eraOf(posts, slug), gate: seen.get(slug)?.gate ?? '', isAtOffice: true, isAuthor: true }
            : null;
        await compare(
          node,
          seen,
          { path: `/-/v1/pages/${slug}/incidents`, bearer: WRITER, slug },
          writer(site.roles.token),
        );
        for (const one of writers.map(current)) {
          const reader = one.isOver === true ? null : writer(site.roles.people);
          await compare(node, seen, { path: `/-/ops/write?page=${slug}`, cookie: one.cookie, slug }, reader);
        }
        for (const one of some(posts.apiTokens)) {
          const reader = { ...readerOf(one, slug, seen), isAuthor: true };
          await compare(node, seen, { path: `/-/v1/pages/${slug}/incidents`, bearer: one.token, slug }, reader);
        }
      }
    },
    readMails: async (before) => {
      const { database } = site.nodes.main.pharos.base;
      const deadline = performance.now() + MAIL_MS_MAX;
      // One that is to be sent is sent or put off.
      for (;;) {
        const [row] = await database.all(
          `SELECT COUNT(*) AS count FROM outbox WHERE channel = 'email' AND state = 'queued' AND due_at <= ?`,
          [Date.now()],
        );
        if (Number(row?.['count']) === 0 || performance.now() > deadline) break;
        await new Promise((later) => setTimeout(later, 20));
      }
      for (; mailsRead < mails.length; mailsRead += 1) {
        const { to, text } = mails[mailsRead] ?? { to: '', text: '' };
        const one = site.posts.subscriptions.find(({ email }) => to.includes(email));
        if (one === undefined) continue;
        for (const word of new Set(text.match(WORD))) {
          shown += 1;
          if (one.email.startsWith(word)) continue;
          const isRead = [before, site.seen].some((seen) => mayRead(word, seen, readerOf(one, one.slug, seen)));
          const post = site.posts.written.get(word);
          const slug = site.posts.replaced.get(one.era);
          const wasRead = post?.era === one.era && !post.isPrivate && before.get(slug ?? '')?.gate === 'public';
          if (!isRead && !wasRead) throw new Error(`LEAK: a mail to a subscriber of ${one.era} says ${word}`);
        }
      }
    },
    read: async (node, seen, closely) => {
      learnPaths(node);
      for (const path of OF_SITE) await ask(node, seen, { path: `/${path}` });
      for (const path of FILES) {
        await ask(node, seen, { path: `/${path}` });
        for (const host of HOSTS) await ask(node, seen, { path: `/${path}`, host });
      }
      for (const slug of ALL_SLUGS) {
        const files = closely.has(slug) ? paths : FILES;
        for (const path of files) await ask(node, seen, { path: `/${slug}/${path}` });
        for (const path of ['', 'history', 'login/', ...(closely.has(slug) ? ['subscribe/'] : [])])
          await ask(node, seen, { path: `/${slug}/${path}` });
      }
      for (const slug of ALL_SLUGS)
        for (const path of closely.has(slug) ? paths : ['', 'feed.atom']) {
          await ask(node, seen, { path: `/${slug}/${path}` }, AT_OFFICE);
        }
      // What was begun at the office is of no use elsewhere.
      const held = sessions.map(current);
      const taken = held.filter(({ isAtOffice }) => isAtOffice).map((one) => ({ ...one, isAtOffice: false }));
      for (const session of [...held, ...taken]) {
        for (const path of ['', 'feed.atom', 'api/v2/summary.json', 'badges/status.svg'])
          for (const slug of closely.has(session.slug) ? closely : [session.slug])
            await ask(node, seen, { path: `/${slug}/${path}` }, session);
        await ask(node, seen, { path: '/' }, session);
        for (const host of HOSTS) await ask(node, seen, { path: '/', host }, session);
      }
    },
    readFolder: (folder, seen) => {
      for (const path of filesBelow(folder)) {
        const { ino, mtimeMs, size } = statSync(path);
        const stamp = `${ino} ${mtimeMs} ${size}`;
        let read = filesRead.get(path);
        if (read?.stamp !== stamp) {
          const text = readFileSync(path, 'utf8').replaceAll(ENCRYPTED, '');
          read = { stamp, words: text.match(WORD) ?? [], slugs: text.match(SLUG) ?? [] };
          filesRead.set(path, read);
        }
        const name = relative(folder, path);
        for (const word of read.words)
          if (!mayRead(word, seen, null)) throw new Error(`LEAK: the static host has ${word} in ${name}`);
        for (const slug of [...read.slugs, ...(name.match(SLUG) ?? [])])
          if (ALL_SLUGS.includes(slug) && !isNameOfLog(slug, name) && !mayKnowOf(slug, seen, null))
            throw new Error(`LEAK: the static host names ${slug} in ${name}`);
      }
    },
    comeIn: async (node, { seen, posts }, slug) => {
      const page = seen.get(slug);
      if (page === undefined) return;
      const { gate, words } = page;
      const isAtOffice = gate === 'office' || gate.startsWith('office+');
      const sees = async (session: Session | null): Promise<boolean> => {
        const { status, body } = await ask(node, seen, { path: `/${slug}/` }, session);
        return status === 200 && words.some((word) => body.includes(word));
      };
      if (gate === 'public') {
        if (!(await sees(null))) throw new Error(`nobody sees the public page ${slug} on ${node.name}`);
        return;
      }
      for (const session of sessions.map(current))
        if (session.slug === slug && session.gate === gate && isOf(posts, session.era, slug) && (await sees(session))) {
          for (const path of paths) await ask(node, seen, { path: `/${slug}/${path}` }, session);
          return;
        }
      if (gate.startsWith('office|') && !(await sees(AT_OFFICE)))
        throw new Error(`${slug} is not shown at the office (${gate}) on ${node.name}`);
      const reader = { slug, gate, era: eraOf(posts, slug), isAtOffice };
      const account = gate.includes('oidc:') ? await tryAccounts(node, reader) : null;
      if (account === 'nobody') return;
      const session: Session =
        account === null ? { ...reader, cookie: await signIn(node, reader, mails) } : { ...reader, ...account };
      if (!(await sees(session))) throw new Error(`${slug} is not shown to who may see it (${gate}) on ${node.name}`);
      sessions.push(session);
      if (sessions.length > SESSIONS_KEPT) sessions.shift();
    },
    held: () =>
      [...sessions, ...writers].map(current).filter(({ account, slug, gate, era, isOver }) => {
        const isOpen = slug === '' || (site.seen.get(slug)?.gate === gate && isOf(site.posts, era, slug));
        return account !== undefined && isOver !== true && isOpen && site.people.isIn(account, gate);
      }),
    endSessions: async (chance) => {
      const account = ACCOUNT_NAMES[chance(ACCOUNT_NAMES.length)] as Account;
      if (site.people.isAway()) return 'nobody signs out';
      const form = { logout_token: await site.people.logoutToken(account) };
      // Two databases.
      for (const node of [site.nodes.main, site.nodes.web]) {
        const { status } = await node.ask({ path: '/-/oidc/backchannel-logout', form });
        if (status !== 200) throw new Error(`${node.name} answers ${status} to a logout of ${account}`);
      }
      for (const list of [sessions, writers])
        list.splice(
          0,
          list.length,
          ...list.map((one) => (one.account === account ? { ...one, endedIn: site.posts.database } : one)),
        );
      return `${account} is signed out`;
    },
    shown: () => shown,
  };

  async function signInOperator(node: Node, account: Account): Promise<void> {
    const gate = 'oidc:writers';
    const answer = await signInAtProvider(node, site, { slug: '', account, isAtOffice: false });
    if (answer === null) return;
    const isIn = site.people.isIn(account, gate);
    if (answer.status !== (isIn ? 200 : 403)) throw new Error(`${account} as an operator: ${answer.status}`);
    if (isIn) writers.push({ slug: '', gate, era: '', isAtOffice: false, account, cookie: cookieOf(answer) });
    if (writers.length > WRITERS_KEPT) writers.shift();
  }

  /** Everybody tries to sign in; those that the gate doesn't name are refused. */
  async function tryAccounts(
    node: Node,
    { slug, gate, isAtOffice }: Reader,
  ): Promise<{ readonly account: Account; readonly cookie: string } | 'nobody'> {
    let found: { readonly account: Account; readonly cookie: string } | 'nobody' = 'nobody';
    for (const account of ACCOUNT_NAMES.filter(site.people.isThere)) {
      const answer = await signInAtProvider(node, site, { slug, account, isAtOffice });
      if (answer === null) return 'nobody';
      const isIn = site.people.isIn(account, gate);
      if (answer.status !== (isIn ? 303 : 403)) throw new Error(`${account} at ${gate} of ${slug}: ${answer.status}`);
      if (isIn) found = { account, cookie: cookieOf(answer) };
      else if (answer.headers.includes('set-cookie')) throw new Error(`LEAK: ${account} got a cookie of ${gate}`);
    }
    return found;
  }
}

/** What answers the browser that comes back from the provider; null: that is away. */
async function signInAtProvider(
  node: Node,
  { people }: Site,
  { slug, account, isAtOffice }: Pick<Reader, 'slug' | 'isAtOffice'> & { readonly account: Account },
): Promise<Answer | null> {
  const from = isAtOffice ? { from: OFFICE_ADDRESS } : {};
  const path = slug === '' ? '/-/ops/oidc' : `/${slug}/login/oidc/`;
  const begun = await node.ask({ path, ...from });
  if (people.isAway()) {
    if (begun.status !== 503) throw new Error(`${path} is answered with ${begun.status} while the provider is away`);
    return null;
  }
  const location = begun.headers[begun.headers.indexOf('location') + 1] ?? '';
  if (begun.status !== 303) throw new Error(`${node.name} ${path} answers ${begun.status}: ${node.errors.at(-1)}`);
  const back = await people.provider.signIn(location, account);
  return node.ask({ path: `${back.pathname}${back.search}`, cookie: cookieOf(begun), ...from });
}

/** The Cookie header after signing in as a visitor does. */
async function signIn(node: Node, { slug, gate, isAtOffice }: Reader, mails: Mails): Promise<string> {
  if (gate === 'office') return '';
  const [kind = '', secret = ''] = gate.replace(/^office[+|]/, '').split(':');
  const from = isAtOffice ? { from: OFFICE_ADDRESS } : {};
  if (kind === 'password') {
    const password = PASSWORDS[secret as keyof typeof PASSWORDS];
    return cookieOf(await node.ask({ path: `/${slug}/login/`, form: { password }, ...from }));
  }
  const before = mails.length;
  // Another mailbox each time: one gets only so many mails.
  const email = `visitor-${before}@${secret.split(',')[0]}`;
  const cookie = cookieOf(await node.ask({ path: `/${slug}/login/`, form: { email }, ...from }));
  const deadline = performance.now() + MAIL_MS_MAX;
  const mail = () => mails.findLast(({ to }) => to.includes(email));
  while (mail() === undefined) {
    if (performance.now() > deadline) throw new Error(`no mail came to ${email}`);
    await new Promise((later) => setImmediate(later));
  }
  const code = /\b\d{4} \d{4}\b/.exec(mail()?.text ?? '')?.[0] ?? '';
  return cookieOf(await node.ask({ path: `/${slug}/login/code/`, cookie, form: { code }, ...from }));
}

function cookieOf({ headers, status }: Answer): string {
  const set = headers.flatMap((name, index) => (name === 'set-cookie' ? [headers[index + 1] ?? ''] : []));
  if (set.length === 0) throw new Error(`signing in was answered with ${status} and no cookie`);
  return set
    .map((line) => line.split(';', 1)[0] ?? '')
    .filter((pair) => !pair.endsWith('='))
    .join('; ');
}

/** What of a pattern stands in a text. Most of what is answered was answered before, so that is kept for a while. */
function matchesOf(pattern: RegExp): (text: string) => readonly string[] {
  const found = new Map<string, readonly string[]>();
  return (text) => {
    if (found.size > TEXTS_KEPT) found.clear();
    return found.getOrInsertComputed(text, () => [...new Set(text.match(pattern))]);
  };
}

function around(text: string, word: string): string {
  const at = text.indexOf(word);
  return text.slice(Math.max(0, at - 80), at + 80);
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}

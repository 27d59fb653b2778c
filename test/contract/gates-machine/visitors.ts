/** Reads every surface as nobody and with the sessions that were ever given out, and tells of what should not be there. */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { servedRelease } from '../../../src/publish/releases/folders.ts';
import { readManifest } from '../../../src/publish/releases/manifest.ts';
import type { Site } from './machine.ts';
import type { Answer, Node, Question } from './nodes.ts';
import { mayReadPost, noPosts, type Posts } from './posts.ts';
import { ALL_SLUGS, CUSTOM_HOST, isOpenTo, OFFICE_ADDRESS, PASSWORDS, type Seen, type Session } from './world.ts';

/** Somebody who has signed in to nothing. */
const AT_OFFICE: Session = { slug: '', gate: '', cookie: '', isAtOffice: true };

export interface Visitors {
  /** Takes down what may be known of from here on. */
  readonly note: (site: Site) => void;
  /** Reads everything of the pages in `closely`, one address of each kind of all others. */
  readonly read: (node: Node, seen: Seen, closely: ReadonlySet<string>) => Promise<void>;
  /** From here on posts are those of the site; `isJudged`: what is read now is published, so posts are judged too. */
  readonly judgePosts: (posts: Posts, isJudged: boolean) => void;
  /** Reads the files of the static host. */
  readonly readFolder: (folder: string, seen: Seen) => void;
  /** Whoever may see a page gets in and sees it. */
  readonly comeIn: (node: Node, site: Site, slug: string) => Promise<void>;
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
/** Standing alone, since random ids are made of the same letters. */
const WORD = /(?<![a-z0-9])qx\d+z(?![a-z0-9])/g;
const SLUG = /qs[a-z]{4,5}/g;
/** The sealed part of a ledger, in which any letters stand by chance. */
const ENCRYPTED = /[A-Za-z0-9+/_-]{100,}={0,2}/g;
const SESSIONS_KEPT = 12;
/** Until a mail has to be there; this machine may be busy. */
const MAIL_MS_MAX = 10_000;

/** Mails that were to be sent, newest last. */
export type Mails = readonly { readonly to: string; readonly text: string }[];

export function createVisitors(mails: Mails): Visitors {
  /** By word, the slugs under which anybody could read it, and under which somebody could. */
  const open = new Map<string, Set<string>>();
  const known = new Map<string, Set<string>>();
  const sessions: Session[] = [];
  const paths = new Set(FILES);
  const filesRead = new Map<string, { stamp: string; words: readonly string[]; slugs: readonly string[] }>();
  let shown = 0;
  let posts = noPosts();
  let isJudged = false;

  function mayRead(word: string, seen: Seen, session: Session | null): boolean {
    const verdict = mayReadPost(posts, word, { seen, session });
    if (verdict !== null) return verdict || !isJudged;
    for (const slug of open.get(word) ?? []) if (seen.get(slug)?.gate === 'public') return true;
    for (const slug of known.get(word) ?? []) {
      const gate = seen.get(slug)?.gate;
      if (gate !== 'public' && isOpenTo(session, slug, gate)) return true;
    }
    return false;
  }

  function mayKnowOf(slug: string, seen: Seen, session: Session | null): boolean {
    return isOpenTo(session, slug, seen.get(slug)?.gate);
  }

  function inspect(node: Node, seen: Seen, { question, answer, session }: Reading): void {
    const text = `${answer.headers.join('\n')}\n${answer.body}`;
    const where = `${node.name} ${question.host ?? ''}${question.path} to ${session === null ? 'nobody' : `a session of ${session.slug} ${session.gate}`}`;
    for (const word of new Set(text.match(WORD))) {
      shown += 1;
      // The way back after signing in repeats the address.
      if (!question.path.includes(word) && !mayRead(word, seen, session))
        throw new Error(`LEAK: ${where} shows ${word} of ${[...(known.get(word) ?? ['nowhere'])].join()}`);
    }
    for (const slug of new Set(text.match(SLUG)))
      if (ALL_SLUGS.includes(slug) && !question.path.includes(slug) && !mayKnowOf(slug, seen, session))
        throw new Error(`LEAK: ${where} names ${slug}`);
    if (answer.status >= 500 && answer.status !== 503) throw new Error(`${where}: ${answer.status} ${answer.body}`);
  }

  interface Reading {
    readonly question: Question;
    readonly answer: Answer;
    readonly session: Session | null;
  }

  async function ask(node: Node, seen: Seen, question: Question, session: Session | null = null): Promise<Answer> {
    const from = session?.isAtOffice === true ? { from: OFFICE_ADDRESS } : {};
    const asked = session === null ? question : { ...question, cookie: session.cookie, ...from };
    const answer = await node.ask(asked);
    inspect(node, seen, { question, answer, session });
    return answer;
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
    judgePosts: (of, judged) => {
      posts = of;
      isJudged = judged;
    },
    note: ({ seen }) => {
      for (const [slug, { gate, words }] of seen)
        for (const word of words)
          for (const into of gate === 'public' ? [open, known] : [known]) into.getOrInsert(word, new Set()).add(slug);
    },
    read: async (node, seen, closely) => {
      learnPaths(node);
      for (const path of OF_SITE) await ask(node, seen, { path: `/${path}` });
      for (const path of FILES) {
        await ask(node, seen, { path: `/${path}` });
        await ask(node, seen, { path: `/${path}`, host: CUSTOM_HOST });
      }
      for (const slug of ALL_SLUGS) {
        const files = closely.has(slug) ? paths : FILES;
        for (const path of files) await ask(node, seen, { path: `/${slug}/${path}` });
        for (const path of ['', 'history', 'login/']) await ask(node, seen, { path: `/${slug}/${path}` });
      }
      for (const slug of ALL_SLUGS)
        for (const path of closely.has(slug) ? paths : ['', 'feed.atom']) {
          await ask(node, seen, { path: `/${slug}/${path}` }, AT_OFFICE);
        }
      // What was begun at the office is of no use elsewhere.
      const taken = sessions.filter(({ isAtOffice }) => isAtOffice).map((one) => ({ ...one, isAtOffice: false }));
      for (const session of [...sessions, ...taken]) {
        for (const path of ['', 'feed.atom', 'api/v2/summary.json', 'badges/status.svg'])
          for (const slug of closely.has(session.slug) ? closely : [session.slug])
            await ask(node, seen, { path: `/${slug}/${path}` }, session);
        await ask(node, seen, { path: '/' }, session);
        await ask(node, seen, { path: '/', host: CUSTOM_HOST }, session);
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
          if (ALL_SLUGS.includes(slug) && !mayKnowOf(slug, seen, null))
            throw new Error(`LEAK: the static host names ${slug} in ${name}`);
      }
    },
    comeIn: async (node, { seen }, slug) => {
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
      for (const session of sessions)
        if (session.slug === slug && session.gate === gate && (await sees(session))) {
          for (const path of paths) await ask(node, seen, { path: `/${slug}/${path}` }, session);
          return;
        }
      if (gate.startsWith('office|') && !(await sees(AT_OFFICE)))
        throw new Error(`${slug} is not shown at the office (${gate}) on ${node.name}`);
      const session = { slug, gate, isAtOffice, cookie: await signIn(node, { slug, gate, isAtOffice }, mails) };
      if (!(await sees(session))) throw new Error(`${slug} is not shown to who may see it (${gate}) on ${node.name}`);
      sessions.push(session);
      if (sessions.length > SESSIONS_KEPT) sessions.shift();
    },
    shown: () => shown,
  };
}

/** The Cookie header after signing in as a visitor does. */
async function signIn(node: Node, { slug, gate, isAtOffice }: Omit<Session, 'cookie'>, mails: Mails): Promise<string> {
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
  while (mails.length === before) {
    if (performance.now() > deadline) throw new Error(`no mail came to ${email}`);
    await new Promise((later) => setImmediate(later));
  }
  const code = /\b\d{4} \d{4}\b/.exec(mails.at(-1)?.text ?? '')?.[0] ?? '';
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

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}

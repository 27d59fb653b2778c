/** A site whose visitors subscribe, with a mail server that keeps what it is given. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MailSink, type ReceivedMail, startMailSink } from './mail-sink.ts';
import { eventually, type RunningPharos, temporaryFolder } from './pharos.ts';
import { startWarm } from './warm.ts';
import { callApi, WRITING_ENV } from './writing-site.ts';

const CONFIG = `site: { url: "http://127.0.0.1:4321", name: Example }
server: { trustedProxyHops: 1 }
schedule: "0 0 1 * *"
operators: { token: "\${PHAROS_TOKEN}" }
access: { smtp: "\${SMTP}", from: "Status <status@pharos.example>" }
subscriptions: true
pages:
  - slug: acme
    title: Acme
    components:
      - { id: api, type: static, name: API }
      - { id: web, type: static, name: Website }
  - slug: cloud
    title: Cloud
    groups: [{ id: eu, name: Europe }, { id: us, name: America }]
    components:
      - { id: eu-api, type: static, name: API, group_id: eu }
      - { id: eu-web, type: static, name: Website, group_id: eu }
      - { id: us-api, type: static, name: API, group_id: us }
      - { id: us-web, type: static, name: Website, group_id: us }
  - slug: inner
    title: Inner
    password: "\${PASSWORD}"
    components:
      - { id: vault, type: static, name: Vault }
      - { id: gold, type: static, name: Gold }
  - slug: team
    title: Team
    access_type: email-domain
    auth_email_domains: [corp.example]
    components:
      - { id: desk, type: static, name: Desk }
  - slug: office
    title: Office
    allow_ips: [192.0.2.0/24]
    components:
      - { id: door, type: static, name: Door }
  - slug: quiet
    title: Quiet
    subscriptions: false
    components:
      - { id: hush, type: static, name: Hush }
`;

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

export interface SubscribingSite {
  readonly sink: MailSink;
  readonly folder: string;
  readonly url: () => string;
  readonly pharos: () => RunningPharos;
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Answered>;
  /** A form as a browser without script posts it; by a client of its own unless told otherwise. */
  readonly post: (
    path: string,
    fields: readonly (readonly [string, string])[],
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answered>;
  /** Subscribes and presses the button of the mailed link. The link to manage it. */
  readonly subscribe: (
    slug: string,
    email: string,
    init?: { readonly components?: readonly string[]; readonly groups?: readonly string[]; readonly cookie?: string },
  ) => Promise<string>;
  /** The next mail to an address that has come since there were `before` of them; fails when none comes. */
  readonly mailTo: (address: string, before?: number) => Promise<ReceivedMail>;
  readonly stop: () => Promise<void>;
  readonly kill: () => void;
  readonly restart: (config?: (text: string) => string) => Promise<void>;
  readonly close: () => Promise<void>;
}

let clients = 0;

export async function startSubscribingSite(edit: (text: string) => string = (text) => text): Promise<SubscribingSite> {
  const folder = temporaryFolder();
  const sink = await startMailSink();
  const env = { ...WRITING_ENV, OTHER: 'another password', SMTP: sink.url };
  let pharos: RunningPharos;
  const begin = async (config: string): Promise<void> => {
    writeFileSync(join(folder.path, 'pharos.yaml'), config);
    pharos = await startWarm(['start', '--port', '0'], { cwd: folder.path, env });
    const ready = await eventually(
      () => fetch(`${pharos.url}/-/ready`),
      (answer) => answer.status === 200,
    );
    if (ready.status !== 200) throw new Error(`not ready:\n${pharos.stderr()}`);
  };
  await begin(edit(CONFIG));

  async function ask(path: string, init: RequestInit): Promise<Answered> {
    const answer = await fetch(`${pharos.url}${path}`, { redirect: 'manual', ...init });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  }
  const site: SubscribingSite = {
    sink,
    folder: folder.path,
    url: () => pharos.url,
    pharos: () => pharos,
    get: (path, headers = {}) => ask(path, { headers }),
    post: (path, fields, headers = {}) => {
      clients += 1;
      return ask(path, {
        method: 'POST',
        body: new URLSearchParams(fields.map(([name, value]) => [name, value])),
        headers: { 'x-forwarded-for': `203.0.${Math.floor(clients / 250)}.${clients % 250}`, ...headers },
      });
    },
    subscribe: async (slug, email, { components = [], groups = [], cookie } = {}) => {
      const before = sink.to(email).length;
      const headers = cookie === undefined ? {} : { cookie };
      const fields = [
        ['email', email] as const,
        ...components.map((id) => ['component', id] as const),
        ...groups.map((id) => ['group', id] as const),
      ];
      const sent = await site.post(`/${slug}/subscribe/`, fields, headers);
      if (sent.status !== 303) throw new Error(`the form was answered with ${sent.status}: ${sent.body}`);
      const link = linkIn(await site.mailTo(email, before), 'confirm');
      const done = await site.post(pathOf(link), [['token', tokenOf(link)]], headers);
      const [manage] = /\/[a-z]+\/subscribe\/manage\/\?token=[\w.-]+/.exec(done.body) ?? [];
      if (manage === undefined) throw new Error(`the link was answered with ${done.status}: ${done.body}`);
      return manage;
    },
    mailTo: async (address, before = 0) => {
      const mails = await eventually(
        async () => sink.to(address),
        (found) => found.length > before,
      );
      const mail = mails[before];
      if (mail === undefined) throw new Error(`no mail to ${address}:\n${pharos.stderr()}`);
      return mail;
    },
    stop: async () => void (await pharos.stop()),
    kill: () => pharos.kill(),
    restart: async (change = (text) => text) => begin(change(edit(CONFIG))),
    close: async () => {
      await pharos.stop();
      await sink.close();
      folder.remove();
    },
  };
  return site;
}

/** The first link of a mail to an address below `subscribe/`. */
export function linkIn({ text }: ReceivedMail, path: 'confirm' | 'manage' | 'leave'): string {
  const [link] = new RegExp(`http\\S*/subscribe/${path}/\\?token=[\\w.-]+`).exec(text) ?? [];
  if (link === undefined) throw new Error(`no link in:\n${text}`);
  return link;
}

export const pathOf = (link: string): string => new URL(link, 'http://site').pathname;
export const tokenOf = (link: string): string => new URL(link, 'http://site').searchParams.get('token') ?? '';

/** Declares an incident; its id there. */
export async function declare(url: string, page: string, incident: Readonly<Record<string, unknown>>): Promise<string> {
  const made = await callApi(url, 'POST', `pages/${page}/incidents`, { body: { incident } });
  if (made.status !== 201)
    throw new Error(`the incident was answered with ${made.status}: ${JSON.stringify(made.body)}`);
  return String(made.body.id);
}

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Mail } from '../../src/mail/mail.ts';
import { MINUTE_MS, SECOND_MS, toEpochMs } from '../../src/model/time.ts';
import { copySqlite } from '../../src/store/sqlite/sqlite.ts';
import {
  codeIn,
  emailPage,
  ORIGIN,
  PAGES,
  type Site,
  type SiteFolder,
  setCookies,
  siteFolder,
  storeCheapHash,
  T0,
  tokenIn,
  until,
  Visitor,
} from './access-fixture.ts';
import type { WorkerResult, WorkerTask } from './access-worker.ts';

describe('a page for an e-mail domain', () => {
  let folder: SiteFolder;
  let site: Site;
  let visitor: Visitor;

  beforeEach(async () => {
    folder = siteFolder();
    site = await folder.open();
    await storeCheapHash(site.database);
    await site.access.setPages(PAGES);
    visitor = new Visitor(() => site);
  });
  afterEach(async () => {
    await site.close();
    folder.remove();
  });

  /** Asks as a visitor does and gives the mail that comes. */
  async function askFor(email: string, who: Visitor = visitor, to = ''): Promise<Mail> {
    const before = site.mails.length;
    await who.post('team', 'login/', { email, to });
    await site.access.tend();
    const mail = site.mails[before];
    if (mail === undefined) throw new Error(`no mail came for ${email}`);
    return mail;
  }
  const open = (mail: Mail, who: Visitor = visitor) => who.post('team', 'login/link/', { token: tokenIn(mail) });
  const type = (code: string, who: Visitor = visitor) => who.post('team', 'login/code/', { code });

  it('opens by the link in the mail, to the address that was asked for', async () => {
    const mail = await askFor('a@corp.example', visitor, 'history/');
    expect(mail.to).toBe('a@corp.example');
    expect(mail.text).toContain(`${ORIGIN}/team/login/link/?token=`);
    const shown = await visitor.get('team', 'login/link/', { query: new URLSearchParams({ token: tokenIn(mail) }) });
    expect(shown.status).toBe(200);
    expect(shown.headers['referrer-policy']).toBe('no-referrer');
    expect(shown.body).toContain(tokenIn(mail));
    expect(await visitor.sees('team')).toBe(false);
    expect(await open(mail)).toMatchObject({ status: 303, headers: { location: '/team/history/' } });
    expect(await visitor.sees('team')).toBe(true);
    expect(await visitor.sees('vault')).toBe(false);
  });

  it('is in the language of the tree that somebody wanted to see, and so is what its link opens', async () => {
    const mail = await askFor('a@corp.example', visitor, 'de/history/');
    expect(mail.subject).toMatch(/^Anmeldung: /);
    expect(mail.text).toMatch(/\/team\/login\/link\/\?token=[\w-]+&to=de%2Fhistory%2F\s/);
    expect(await open(mail)).toMatchObject({ headers: { location: '/team/de/history/' } });
    expect((await askFor('b@corp.example', new Visitor(site), 'fr/')).subject).not.toMatch(/^Anmeldung: /);
  });

  it('mails a link to the host where it was asked for, which has the cookie, and to no other', async () => {
    const own = 'https://status.team.example';
    await site.access.setPages(PAGES.map((page) => (page.slug === 'team' ? { ...page, url: `${own}/` } : page)));
    const atSite = await askFor('a@corp.example');
    expect(atSite.text).toContain(`${ORIGIN}/team/login/link/?token=`);
    expect(await open(atSite)).toMatchObject({ status: 303, headers: { location: '/team/' } });
    const there = new Visitor(site, { ownOrigin: own, origin: own, base: '/' });
    expect((await askFor('b@corp.example', there)).text).toContain(`${own}/login/link/?token=`);
    const forged = 'https://evil.example';
    const elsewhere = new Visitor(site, { ownOrigin: forged, origin: forged });
    expect((await askFor('c@corp.example', elsewhere)).text).not.toContain('evil');
  });

  it('opens by the code in the mail, however its digits are grouped', async () => {
    for (const write of [
      (code: string) => code,
      (code: string) => code.replace(' ', ''),
      (code: string) => ` ${code.replace(' ', '-')} `,
    ]) {
      const someone = new Visitor(site);
      const mail = await askFor(`b${Math.abs(site.mails.length)}@corp.example`, someone);
      expect((await type(write(codeIn(mail)), someone)).status).toBe(303);
      expect(await someone.sees('team')).toBe(true);
    }
  });

  it('gives exactly one session for a hundred redemptions at once', async () => {
    const mail = await askFor('a@corp.example');
    const cookie = visitor.cookie;
    const answers = await Promise.all(
      Array.from({ length: 100 }, () =>
        new Visitor(site, { cookie }).post('team', 'login/link/', { token: tokenIn(mail) }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 303)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 403)).toHaveLength(99);
    expect(await site.database.all('SELECT * FROM access_session')).toHaveLength(1);
  });

  it('gives one session for link and code together', async () => {
    const mail = await askFor('a@corp.example');
    expect((await type(codeIn(mail))).status).toBe(303);
    expect((await open(mail)).status).toBe(403);
    expect((await type(codeIn(mail))).status).toBe(403);
  });

  it('gives one session for a hundred redemptions in two processes', async () => {
    const second = await secondProcess(folder.file);
    const mail = await askFor('a@corp.example');
    const { cookie } = visitor;
    const theirs = second.run({ redeem: { times: 50, token: tokenIn(mail), cookie: cookie ?? '' } });
    const mine = Array.from({ length: 50 }, () =>
      new Visitor(site, { cookie }).post('team', 'login/link/', { token: tokenIn(mail) }),
    );
    const statuses = [...(await Promise.all(mine)).map(({ status }) => status), ...(await theirs).statuses];
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    expect(statuses.filter((status) => status === 403)).toHaveLength(99);
    await second.end();
  });

  it('opens no later than ten minutes after it was asked', async () => {
    const early = await askFor('a@corp.example');
    site.now = toEpochMs(T0 + 10 * MINUTE_MS - 1);
    expect((await open(early)).status).toBe(303);
    site.now = T0;
    const other = new Visitor(site);
    const late = await askFor('b@corp.example', other);
    site.now = toEpochMs(T0 + 10 * MINUTE_MS);
    expect((await open(late, other)).status).toBe(403);
    expect((await type(codeIn(late), other)).status).toBe(403);
    expect(await other.sees('team')).toBe(false);
  });

  it('opens in no other browser, at no other page, and by nothing made up', async () => {
    await site.access.setPages([...PAGES, emailPage('team-two')]);
    const mail = await askFor('a@corp.example');
    const token = tokenIn(mail);
    const elsewhere = new Visitor(site);
    const refused = await open(mail, elsewhere);
    expect(refused.status).toBe(403);
    expect(refused.body).toContain('the browser you requested it from');
    await askFor('c@corp.example', elsewhere);
    expect((await open(mail, elsewhere)).status).toBe(403);
    expect((await type(codeIn(mail), elsewhere)).status).toBe(403);
    for (const slug of ['team-two', 'vault', 'open', 'nowhere'])
      expect((await visitor.post(slug, 'login/link/', { token })).status, slug).toBe(403);
    for (const made of ['', 'x', 'A'.repeat(43), `${token}A`, token.slice(1), token.toUpperCase(), "' OR 1=1 --"])
      expect((await visitor.post('team', 'login/link/', { token: made })).status).toBe(403);
    expect(await visitor.sees('team-two')).toBe(false);
    expect((await open(mail)).status).toBe(303);
  });

  it('loses nothing to a thousand scanners that open the link', async () => {
    const mail = await askFor('a@corp.example');
    const query = new URLSearchParams({ token: tokenIn(mail) });
    for (let round = 0; round < 1_000; round += 1) {
      const scanner = new Visitor(site, { method: round % 2 === 0 ? 'GET' : 'HEAD' });
      const shown = await scanner.get('team', 'login/link/', { query });
      expect(shown.status).toBe(200);
      expect(setCookies(shown)).toEqual([]);
    }
    expect(await site.database.all('SELECT * FROM access_session')).toEqual([]);
    expect((await open(mail)).status).toBe(303);
  });

  it('lets both links work when a browser asked twice', async () => {
    const first = await askFor('a@corp.example');
    const second = await askFor('a@corp.example');
    expect(tokenIn(first)).not.toBe(tokenIn(second));
    expect((await open(first)).status).toBe(303);
    expect((await open(second)).status).toBe(303);
  });

  it('gives five tries at a code, then not even the right one helps', async () => {
    const mail = await askFor('a@corp.example');
    const wrong = codeIn(mail) === '0000 0000' ? '0000 0001' : '0000 0000';
    for (let round = 0; round < 5; round += 1) expect((await type(wrong)).status).toBe(403);
    expect((await type(codeIn(mail))).status).toBe(403);
    expect((await open(mail)).status).toBe(303);
  });

  it('ends sessions and open links when its domains change, and only then', async () => {
    const mail = await askFor('a@corp.example');
    await open(mail);
    const other = new Visitor(site);
    const pending = await askFor('b@corp.example', other);
    await site.access.setPages([emailPage('team', ['CORP.example'])]);
    expect(await visitor.sees('team')).toBe(true);
    await site.access.setPages([emailPage('team', ['corp.example', 'other.example'])]);
    expect(await visitor.sees('team')).toBe(false);
    expect((await open(pending, other)).status).toBe(403);
    expect((await type(codeIn(pending), other)).status).toBe(403);
  });

  it('sends three mails to an address in fifteen minutes, and says nothing of the rest', async () => {
    const answers = [];
    for (const email of [
      'a@corp.example',
      'A@CORP.example',
      'a+tag@corp.example',
      'a@corp.example',
      'a+more@corp.example',
    ]) {
      const someone = new Visitor(site);
      answers.push(await someone.post('team', 'login/', { email }));
      await site.access.tend();
    }
    expect(site.mails).toHaveLength(3);
    expect(
      new Set(answers.map(({ status, body, headers }) => JSON.stringify([status, body, headers['location']]))).size,
    ).toBe(1);
    site.now = toEpochMs(T0 + 15 * MINUTE_MS);
    await askFor('a@corp.example', new Visitor(site));
    expect(site.mails).toHaveLength(4);
  });

  it('lets a whole office in from one address, and stops who only asks', async () => {
    for (let index = 0; index < 15; index += 1) {
      const colleague = new Visitor(site);
      const mail = await askFor(`colleague${index}@corp.example`, colleague);
      expect((await (index % 2 === 0 ? open(mail, colleague) : type(codeIn(mail), colleague))).status).toBe(303);
    }
    const statuses = [];
    for (let index = 0; index < 12; index += 1)
      statuses.push((await new Visitor(site).post('team', 'login/', { email: `x${index}@corp.example` })).status);
    expect(statuses).toEqual([...Array(10).fill(303), 429, 429]);
  });

  it('answers the same while the mail server is down, and sends as soon as it is back', async () => {
    await site.close();
    let isDown = true;
    const sent: Mail[] = [];
    const tokens = new Set<string>();
    site = await folder.open({
      sendMail: async (mail) => {
        tokens.add(tokenIn(mail));
        if (isDown) throw Object.assign(new Error('rejected: <a@corp.example>'), { code: 'ECONNECTION' });
        sent.push(mail);
      },
    });
    await site.access.setPages(PAGES);
    const answer = await visitor.post('team', 'login/', { email: 'a@corp.example' });
    expect(answer.status).toBe(303);
    for (let second = 0; second < 120; second += 5) {
      site.now = toEpochMs(T0 + second * SECOND_MS);
      await site.access.tend();
    }
    expect(sent).toEqual([]);
    expect(String(site.errors[0])).toContain('ECONNECTION');
    expect(String(site.errors)).not.toContain('corp.example');
    isDown = false;
    // A moment late, which is no minute less.
    site.now = toEpochMs(T0 + 3 * MINUTE_MS + SECOND_MS);
    await site.access.tend();
    expect(sent).toHaveLength(1);
    // Should one of the failed ones have arrived after all, its link is as good.
    expect(tokens.size).toBe(1);
    expect(sent[0]?.text).toContain('after 7 minutes');
    expect((await visitor.post('team', 'login/link/', { token: tokenIn(sent[0]) })).status).toBe(303);
    await site.access.tend();
    expect(sent).toHaveLength(1);
  });

  it('sends a mail that was owed when the process ended, and gives up when its link would be dead', async () => {
    await site.close();
    const down = { sendMail: () => Promise.reject(new Error('down')) };
    site = await folder.open(down);
    await site.access.setPages(PAGES);
    await visitor.post('team', 'login/', { email: 'a@corp.example' });
    await site.access.tend();
    await site.close();
    site = await folder.open();
    await site.access.setPages(PAGES);
    site.now = toEpochMs(T0 + 2 * MINUTE_MS);
    await site.access.tend();
    expect(site.mails).toHaveLength(1);
    expect((await open(site.mails[0] as Mail)).status).toBe(303);

    await new Visitor(site).post('team', 'login/', { email: 'b@corp.example' });
    site.now = toEpochMs(T0 + 12 * MINUTE_MS);
    await site.access.tend();
    expect(site.mails).toHaveLength(1);
    expect(await site.database.all('SELECT * FROM access_challenge WHERE address IS NOT NULL')).toEqual([]);
  });

  it('leaves each mail to one of two processes', async () => {
    const second = await secondProcess(folder.file);
    const emails = Array.from({ length: 20 }, (_, index) => `p${index}@corp.example`);
    for (const [index, email] of emails.entries())
      await new Visitor(site, { clientAddress: `192.0.2.${index}` }).post('team', 'login/', { email });
    const theirs = second.run({ redeem: null });
    await site.access.tend();
    const recipients = [...site.mails.map(({ to }) => to), ...(await theirs).recipients];
    expect(recipients.toSorted()).toEqual(emails.toSorted());
    await second.end();
  });

  it('needs nobody to ask for the mail to leave, and lets the answer leave first', async () => {
    await visitor.post('team', 'login/', { email: 'a@corp.example' });
    expect(site.mails).toEqual([]);
    await until(() => site.mails.length === 1);
  });

  it('keeps no token, code, nonce or sent-to address in the database', async () => {
    const mail = await askFor('canary-person@corp.example');
    await copySqlite(folder.file, `${folder.file}.copy`);
    const bytes = readFileSync(`${folder.file}.copy`).toString('latin1');
    for (const secret of [
      tokenIn(mail),
      codeIn(mail),
      codeIn(mail).replace(' ', ''),
      ...visitor.cookies.values(),
      'canary-person',
    ])
      expect(bytes.includes(secret), secret).toBe(false);
    expect(bytes).toContain('corp.example');
  });

  it('is named in the mail, on one line whatever its title holds', async () => {
    await site.access.setPages([{ ...emailPage('team'), title: 'Team\r\nBcc: evil@evil.test\u2028\u202ex' }]);
    const { subject, text } = await askFor('a@corp.example');
    expect(subject).toBe('Sign in to Team Bcc: evil@evil.test x');
    expect(text).not.toMatch(/[\r\u2028\u202e]|^Bcc/m);
  });
});

async function secondProcess(file: string): Promise<{
  readonly run: (task: WorkerTask) => Promise<WorkerResult>;
  readonly end: () => Promise<unknown>;
}> {
  const worker = new Worker(new URL('./access-worker.ts', import.meta.url), { workerData: { file } });
  await once(worker, 'message');
  return {
    run: async (task) => {
      worker.postMessage(task);
      const [result] = (await once(worker, 'message')) as [WorkerResult];
      return result;
    },
    end: () => worker.terminate(),
  };
}

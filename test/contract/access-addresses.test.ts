import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { domainToASCII } from 'node:url';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSmtpMailer } from '../../src/mail/mailer.ts';
import { HOUR_MS, toEpochMs } from '../../src/model/time.ts';
import { emailPage, type Site, type SiteFolder, setCookies, siteFolder, T0, Visitor } from './access-fixture.ts';

const ALLOWED = ['corp.example', 'b\u00fccher.example'];
const ALLOWED_ASCII = new Set(['corp.example', 'xn--bcher-kva.example']);

/** Ways to write `good` and `evil` into one field so that somebody may take evil for good. */
const FORMS: readonly ((good: string, evil: string) => string)[] = [
  (good, evil) => `${evil},${good}`,
  (good, evil) => `${good},${evil}`,
  (good, evil) => `${good}, ${evil}`,
  (good, evil) => `${evil};${good}`,
  (good, evil) => `${good} ${evil}`,
  (good, evil) => `${good}\t${evil}`,
  (_good, evil) => `grp: ${evil};@corp.example`,
  (good, evil) => `grp: ${evil}, ${good};`,
  (good, evil) => `${evil}, grp: ${good};`,
  (_good, evil) => `"${evil}"@corp.example`,
  (good, evil) => `"${evil}," ${good}`,
  (good, evil) => `"${good}" <${evil}>`,
  (good, evil) => `${good} <${evil}>`,
  (good, evil) => `<${evil}> ${good}`,
  (good, evil) => `<${evil}>,<${good}>`,
  (_good, evil) => `<@corp.example:${evil}>`,
  (good) => `<@evil.test,@corp.example:${good}>`,
  (good, evil) => `${evil}(${good})`,
  (good, evil) => `(${good})${evil}`,
  (good, evil) => `${good}(${evil})`,
  (good, evil) => `${evil}\u0000${good}`,
  (good, evil) => `${good}\u0000${evil}`,
  (good, evil) => `${evil}\r\n${good}`,
  (good, evil) => `${good}\r\nBcc: ${evil}`,
  (good, evil) => `${good}\nRCPT TO:<${evil}>`,
  (good, evil) => `${good}>\r\nRCPT TO:<${evil}>\r\n`,
  (good, evil) => `${good}%0d%0aBcc:${evil}`,
  (good, evil) => `${evil}\\,${good}`,
  (_good, evil) => `${evil}\\@corp.example`,
  (_good, evil) => `${evil}@corp.example`,
  (good) => `${good}@evil.test`,
  (good, evil) => `${good},`.concat(evil, ','),
  (good, evil) => `,${evil},,${good}`,
  (good, evil) => `mailto:${good}?bcc=${evil}`,
  (good, evil) => `${good}?cc=${evil}`,
  (good, evil) => `${good}&email=${evil}`,
  (good, evil) => `${good}\uff0c${evil}`,
  (good, evil) => `${good}\u2028${evil}`,
  (good, evil) => `${good}\u0085${evil}`,
  (good, evil) => `=?utf-8?q?${evil}?=,${good}`,
  (good, evil) => `{"email":"${evil}","x":"${good}"}`,
  (good, evil) => `["${good}","${evil}"]`,
  (good, evil) => `${good}|${evil}`,
  (good, evil) => `${good}\`${evil}\``,
];
const GOODS = ['victim@corp.example', 'v@b\u00fccher.example', 'V.I.P@CORP.EXAMPLE'];
const EVILS = ['attacker@evil.test', 'a@corp.example.evil.test'];
const COMBINED = GOODS.flatMap((good) => EVILS.flatMap((evil) => FORMS.map((form) => form(good, evil))));

const DOMAINS = [
  'evil.test',
  'sub.corp.example',
  'corp.example.evil.test',
  'evil-corp.example',
  'evilcorp.example',
  'corp.example.',
  'corp.example..',
  '.corp.example',
  'corp..example',
  'corp',
  'example',
  'corp.example:25',
  'corp.example/',
  'corp.example#',
  'corp.example%2eevil.test',
  'corp%2eexample',
  'c\u043erp.example',
  '\u0441orp.example',
  'corp.ex\u0430mple',
  'corp.examp1e',
  'c0rp.example',
  'xn--crp-fmc.example',
  'corp-example',
  'corp_example',
  '[corp.example]',
  '[127.0.0.1]',
  '[IPv6:::1]',
  '127.0.0.1',
  '2130706433',
  '0x7f.1',
  'localhost',
  'corp.example@evil.test',
  'corp.example evil.test',
  'corp.example\u200b',
  'corp\u200d.example',
  'co\u00adrp.example',
  'corp.example\u0000.evil.test',
  'corp\u2024example',
  'corp\u3002example.evil.test',
  'bu\u0308cher.example.evil.test',
  'bucher.example',
  'buecher.example',
  'xn--bcher-kva.example.evil.test',
  'xn--bcher-kva',
];
const FOREIGN = DOMAINS.map((domain) => `someone@${domain}`);
/** These are plain addresses of allowed domains, however they are written, and each gets its mail. */
const OWN = [
  'plain@corp.example',
  'UPPER@CORP.EXAMPLE',
  'plus+tag@corp.example',
  "o'neil@corp.example",
  'a.b-c_d@corp.example',
  ' spaces@corp.example ',
  'idn@b\u00fccher.example',
  'idn2@xn--bcher-kva.example',
  'idn3@B\u00dcCHER.example',
  'wide@\uff43\uff4f\uff52\uff50.example',
];
/** At an allowed domain, and yet read as an address elsewhere by some mail server. */
const ROUTED = ['!#$%&*/=?^`{|}~@corp.example', 'someone%evil.test@corp.example', 'evil.test!someone@corp.example'];
const VECTORS = [...COMBINED, ...FOREIGN, ...ROUTED, ...OWN];

describe('the address gate, at a real mail server', () => {
  const recipients: string[] = [];
  const bodies: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _session, done) => {
      // The sink shows punycode as letters; on the wire it was punycode, as the client does not offer SMTPUTF8.
      recipients.push(address.replace(/@(.*)$/, (_at, domain: string) => `@${domainToASCII(domain)}`));
      done();
    },
    onData: (stream, _session, done) => {
      let body = '';
      stream.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      stream.on('end', () => {
        bodies.push(body);
        done();
      });
    },
  });
  let folder: SiteFolder;
  let site: Site;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server.server, 'listening');
    const { port } = server.server.address() as AddressInfo;
    folder = siteFolder();
    site = await folder.open({
      sendMail: createSmtpMailer({
        url: `smtp://127.0.0.1:${port}?ignoreTLS=true`,
        from: 'Status <status@pharos.example>',
      }),
    });
    await site.access.setPages([emailPage('team', ALLOWED)]);
  });
  afterAll(async () => {
    await site.close();
    folder.remove();
    await new Promise((resolve) => server.close(() => resolve(undefined)));
  });

  it(`lets none of ${VECTORS.length} spellings send a mail outside the allowed domains, and answers each the same`, async () => {
    expect(VECTORS.length).toBeGreaterThanOrEqual(300);
    const answers = new Set<string>();
    for (const [index, email] of VECTORS.entries()) {
      // Each from a client and at a time of its own: this is not about limits.
      site.now = toEpochMs(T0 + index * HOUR_MS);
      const someone = new Visitor(site, { clientAddress: `198.51.${index % 250}.${index % 199}` });
      const { status, body, headers } = await someone.post('team', 'login/', { email });
      answers.add(JSON.stringify([status, body, { ...headers, 'set-cookie': null }]));
      await site.access.tend();
    }
    expect(answers.size).toBe(1);
    expect(recipients.filter((address) => !ALLOWED_ASCII.has(address.replace(/^.*@/, '')))).toEqual([]);
    expect(recipients).toEqual(
      OWN.map((own) => own.trim().replace(/@(.*)/, (_at, domain: string) => `@${domainToASCII(domain)}`)),
    );
    expect(site.errors).toEqual([]);
  });

  it('writes one recipient and no second header into each mail', () => {
    expect(bodies).toHaveLength(OWN.length);
    for (const body of bodies) {
      const [head = ''] = body.split('\r\n\r\n');
      expect(head.match(/^To: /gim)).toHaveLength(1);
      expect(head).not.toMatch(/^(cc|bcc):/im);
      expect(head).toMatch(/^From: Status <status@pharos\.example>$/m);
    }
  });

  it('sends the same neutral answer whether an address is allowed, foreign or no address at all', async () => {
    site.now = toEpochMs(T0 + 1_000 * HOUR_MS);
    const answers = [];
    for (const email of ['new@corp.example', 'new@evil.test', 'no address']) {
      const answer = await new Visitor(site).post('team', 'login/', { email });
      expect(setCookies(answer)[0]).toMatch(/^pharos-asking=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
      answers.push(
        JSON.stringify([answer.status, answer.body, Object.keys(answer.headers), answer.headers['location']]),
      );
    }
    expect(new Set(answers).size).toBe(1);
  });
});

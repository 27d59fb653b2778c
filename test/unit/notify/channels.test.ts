import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHANNEL_KINDS, CHANNEL_SETTINGS, type ChannelSettings } from '../../../src/config/notifications.ts';
import { toEpochMs } from '../../../src/model/time.ts';
import type { OutgoingRequest } from '../../../src/notify/channel.ts';
import { plainBlock } from '../../../src/notify/channel.ts';
import { HTTP_KINDS, type HttpKindName, listRecipients, mailTo, requestsFor } from '../../../src/notify/deliver.ts';
import { NOTICE_EVENTS, type Notice } from '../../../src/notify/news.ts';
import { shorten } from '../../../src/shorten.ts';
import { shortId } from '../../../src/views/text/addresses.ts';
import { PROGRAMS, readDiscord, signatureFaults } from '../../helpers/channel-shapes.ts';
import { AT, channelOf, noticeOf, noticeSaying, SIGNING_SECRET } from '../../helpers/channels.ts';
import { hostileTexts } from '../../helpers/hostile-text.ts';

const SCALE = Number(process.env['PHAROS_TEST_SCALE'] ?? '1');
const KINDS = Object.keys(HTTP_KINDS) as HttpKindName[];
const ORIGIN = 'https://hooks.example.net';
const ON_CALL = ['pagerduty', 'opsgenie', 'grafana_oncall'];

function requestsOf(kind: HttpKindName, notice: Notice): readonly OutgoingRequest[] {
  return requestsFor({ ...channelOf(kind, ORIGIN), kind }, notice, AT);
}

/** The first of them; null: none. */
function requestOf(kind: HttpKindName, notice: Notice): OutgoingRequest | null {
  return requestsOf(kind, notice)[0] ?? null;
}

function bodyOf(kind: HttpKindName, notice: Notice): string {
  return requestOf(kind, notice)?.body ?? '';
}

/** What the program would say against it. */
function faultsOf(kind: HttpKindName, notice: Notice): readonly string[] {
  return requestsOf(kind, notice).flatMap((request) => {
    const url = new URL(request.url);
    const headers = Object.entries(request.headers);
    const unsendable = headers.filter(([name, value]) => !/^[a-z-]+$/.test(name) || !/^[\x20-\x7e]*$/.test(value));
    const seen = { ...request, path: `${url.pathname}${url.search}`, headers: request.headers };
    return [
      ...unsendable.map(([name]) => `header ${name}`),
      ...PROGRAMS[kind].faults(seen),
      ...(kind === 'webhook' ? signatureFaults(seen, SIGNING_SECRET, AT) : []),
    ];
  });
}

const HUGE = [
  'x'.repeat(60_000),
  '<&>"'.repeat(20_000),
  'é'.repeat(30_000),
  '😀'.repeat(20_000),
  '\\*_`[x](y)'.repeat(9_000),
  'a line\n'.repeat(9_000),
  '\u0001\u001f'.repeat(9_000),
];

const PIECE = fc.constantFrom(
  '<!channel>',
  '<@U1>',
  '@everyone',
  '](',
  '[x',
  '&lt;',
  '<b>',
  '*',
  '_',
  '`',
  '\\',
  '\n',
  ' ',
  'https://a.invalid/x_y',
  '<users/all>',
  '<at>x</at>',
  '😀',
  '\ud800',
);
/** Made once: a list of all characters comes with it. */
const WORDS = fc.array(fc.oneof(PIECE, fc.string({ unit: 'binary', maxLength: 12 })), { maxLength: 60 });

describe.each(KINDS)('%s', (kind) => {
  it('sends what the program documents, whatever is told', () => {
    for (const event of NOTICE_EVENTS) {
      const isIncident = event.startsWith('incident_');
      const subject = { ...noticeOf().subject, ...(isIncident ? {} : { impact: null, endsAt: toEpochMs(AT + 1) }) };
      for (const impact of isIncident ? (['none', 'minor', 'major', 'critical'] as const) : [null])
        expect([event, faultsOf(kind, noticeOf({ event, subject: { ...subject, impact } }))]).toEqual([event, []]);
    }
  });

  it('sends what it documents where there is little to say', () => {
    const { page, subject } = noticeOf();
    const bare = noticeOf({
      page: { ...page, url: null },
      subject: { ...subject, url: null, impact: null },
      components: [],
      text: '',
    });
    expect(faultsOf(kind, bare)).toEqual([]);
  });

  it('cuts long texts to its limits, all of them at once', () => {
    for (const [at, text] of HUGE.entries()) {
      const components = Array.from({ length: 500 }, () => text.slice(0, 300));
      const { subject } = noticeSaying(text);
      for (const [turn, length] of [100, 200, 1_900, 60_000].entries()) {
        // At a smaller scale than 1, addresses take turns: each is tried beside half of the texts.
        if (SCALE < 1 && (at + turn) % 2 > 0) continue;
        const url = `https://status.example.com/acme/${'x'.repeat(length)}`;
        expect(faultsOf(kind, { ...noticeSaying(text), components, subject: { ...subject, url } })).toEqual([]);
      }
    }
  });

  it('is not fooled by hostile text, in any field', () => {
    for (const text of hostileTexts(Math.ceil(300 * SCALE))) {
      expect([text, faultsOf(kind, noticeSaying(text))]).toEqual([text, []]);
      const { subject } = noticeOf();
      const link = { ...subject, id: text, url: `https://status.example.com/acme/${text}` };
      expect([text, faultsOf(kind, noticeOf({ id: text, subject: link }))]).toEqual([text, []]);
    }
  });

  it('is not fooled by any text', () => {
    fc.assert(
      fc.property(WORDS, (parts) => {
        expect(faultsOf(kind, noticeSaying(parts.join('')))).toEqual([]);
      }),
      { numRuns: Math.ceil(60 * SCALE) },
    );
  });

  it('speaks the language of the page', () => {
    const { page } = noticeOf();
    const body = bodyOf(kind, noticeOf({ page: { ...page, language: 'de' } }));
    // What machines read has words of its own.
    if (kind === 'webhook') expect(JSON.parse(body).data.subject.status).toBe('investigating');
    else expect(body).toMatch(/Untersuchung|Wird untersucht|untersuch/i);
  });
});

describe('on call', () => {
  it.each(ON_CALL)('%s knows all notices of an incident by one key, and hears of no maintenance', (name) => {
    const kind = name as HttpKindName;
    const key = (event: Notice['event']): string => {
      const { url = '', body = '{}' } = requestOf(kind, noticeOf({ event, id: event })) ?? {};
      const json = JSON.parse(body);
      return json.dedup_key ?? json.alert_uid ?? json.alias ?? decodeURIComponent(url.split('/').at(-2) ?? '');
    };
    expect(key('incident_opened')).toBe('pharos/edge/incident-4');
    expect(key('incident_updated')).toBe('pharos/edge/incident-4');
    expect(key('incident_resolved')).toBe('pharos/edge/incident-4');
    for (const event of NOTICE_EVENTS.filter((one) => one.startsWith('maintenance_')))
      expect(requestOf(kind, noticeOf({ event }))).toBe(null);
  });

  it.each(ON_CALL)('%s opens no alert again for what is added to an incident that has ended', (name) => {
    const subject = { ...noticeOf().subject, status: 'postmortem', endsAt: AT };
    expect(requestOf(name as HttpKindName, noticeOf({ event: 'incident_updated', subject }))).toBe(null);
    expect(requestOf(name as HttpKindName, noticeOf({ event: 'incident_resolved', subject }))).not.toBe(null);
  });

  it('an incident that is over is resolved, closed, ok', () => {
    const over = noticeOf({ event: 'incident_resolved' });
    expect(JSON.parse(bodyOf('pagerduty', over))).toMatchObject({ event_action: 'resolve' });
    expect(requestOf('opsgenie', over)?.url).toBe(
      'https://api.eu.opsgenie.com/v2/alerts/pharos%2Fedge%2Fincident-4/close?identifierType=alias',
    );
    expect(JSON.parse(bodyOf('grafana_oncall', over))).toMatchObject({ state: 'ok' });
  });

  it('an update of Opsgenie changes the alert that is open, besides its note', () => {
    const subject = { ...noticeOf().subject, impact: 'critical' as const, status: 'identified' };
    const [create, ...changes] = requestsOf('opsgenie', noticeOf({ event: 'incident_updated', subject }));
    expect(JSON.parse(create?.body ?? '')).toMatchObject({ alias: 'pharos/edge/incident-4' });
    const base = 'https://api.eu.opsgenie.com/v2/alerts/pharos%2Fedge%2Fincident-4';
    expect(changes.map(({ method, url, body }) => [method, url, JSON.parse(body)])).toEqual([
      ['PUT', `${base}/message?identifierType=alias`, { message: 'Identified: Errors at the API' }],
      ['PUT', `${base}/description?identifierType=alias`, { description: expect.stringContaining('Critical impact') }],
      ['PUT', `${base}/priority?identifierType=alias`, { priority: 'P1' }],
    ]);
    expect(requestsOf('opsgenie', noticeOf())).toHaveLength(1);
  });

  it('an account that moved from Opsgenie is reached at its new address, which changes no alerts', () => {
    const server_url = 'https://api.atlassian.com/jsm/ops/integration';
    const settings = CHANNEL_SETTINGS.opsgenie.parse({ api_key: 'genie-key', server_url });
    const urls = (event: Notice['event']) =>
      requestsFor({ kind: 'opsgenie', settings }, noticeOf({ event }), AT).map(({ url }) => url);
    expect(urls('incident_updated')).toEqual([`${server_url}/v2/alerts`]);
    expect(urls('incident_resolved')).toEqual([
      `${server_url}/v2/alerts/pharos%2Fedge%2Fincident-4/close?identifierType=alias`,
    ]);
  });

  it('goes to the documented hosts', () => {
    expect(requestOf('pagerduty', noticeOf())?.url).toBe('https://events.pagerduty.com/v2/enqueue');
    expect(requestOf('opsgenie', noticeOf())?.url).toBe('https://api.eu.opsgenie.com/v2/alerts');
    expect(requestOf('telegram', noticeOf())?.url).toMatch(/^https:\/\/api\.telegram\.org\/bot123456:/);
  });
});

describe('email', () => {
  const channel = channelOf('email', ORIGIN);
  const settings = channel.settings as ChannelSettings<'email'>;
  const mailsFor = (notice: Notice) =>
    listRecipients(channel).map((recipient) => {
      const mail = mailTo(recipient, settings, notice);
      if (mail === null) throw new Error('no mail');
      return mail;
    });

  it('goes to each recipient by itself, in a thread of its incident', () => {
    const first = mailsFor(noticeOf());
    const second = mailsFor(noticeOf({ id: 'n-2', event: 'incident_updated' }));
    expect(first.map(({ to }) => to)).toEqual(['ops@example.com', 'desk@example.com']);
    expect(new Set([...first, ...second].map(({ messageId }) => messageId)).size).toBe(4);
    expect(new Set([...first, ...second].map(({ references }) => references?.join())).size).toBe(1);
    expect(mailsFor(noticeOf())).toEqual(first);
    expect(first[0]?.messageId).toMatch(/^<[0-9a-f]{40}@status\.example\.com>$/);
  });

  it('has one line as its subject, without names of components', () => {
    for (const text of hostileTexts(200)) {
      const [mail] = mailsFor({ ...noticeSaying(text), components: ['Secret component'] });
      expect(mail?.subject).not.toMatch(/\p{Cc}|Secret component/u);
      expect(mail?.subject.length).toBeLessThanOrEqual(160);
    }
    const [mail] = mailsFor(noticeOf());
    expect(mail).toMatchObject({
      subject: '[Acme] Investigating: Errors at the API',
      text: 'Investigating: Errors at the API\n\nWe are looking into it.\nMore at https://status.example.com/acme/.\n\nAffects API and Checkout\nMajor impact\n\nAcme: https://status.example.com/acme/incidents/4/',
    });
  });
});

describe('a webhook', () => {
  it('is signed with every secret, so that one can be replaced', () => {
    const second = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
    const { secrets, ...others } = channelOf('webhook', ORIGIN).settings as { secrets: { reveal(): string }[] };
    const both = { ...others, secrets: [...secrets, { reveal: () => second }] };
    const [request] = requestsFor({ kind: 'webhook', settings: both }, noticeOf(), AT);
    if (request === undefined) throw new Error('nothing to send');
    const seen = { ...request, path: '/hook' };
    for (const secret of [SIGNING_SECRET, second]) expect(signatureFaults(seen, secret, AT)).toEqual([]);
    expect(signatureFaults({ ...seen, body: `${seen.body} ` }, second, AT)).toEqual(['webhook-signature']);
    expect(signatureFaults(seen, `whsec_${Buffer.alloc(24, 8).toString('base64')}`, AT)).not.toEqual([]);
  });

  it('is verified here as the example is that Standard Webhooks publishes', () => {
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const seen = { method: 'POST', path: '/', headers, body: '{"test": 2432232314}' };
    expect(signatureFaults(seen, secret, 1_614_265_330_000)).toEqual([]);
  });

  it('has the same id and body at every attempt, and a time of its own', () => {
    const { settings } = channelOf('webhook', ORIGIN);
    const later = requestsFor({ kind: 'webhook', settings }, noticeOf(), toEpochMs(AT + 3_600_000))[0];
    expect(later?.body).toBe(bodyOf('webhook', noticeOf()));
    expect(later?.headers['webhook-id']).toBe('n-1');
    expect(later?.headers['webhook-timestamp']).toBe(String(AT / 1_000 + 3_600));
    expect(later?.headers['x-token']).toBe('hook-token');
  });
});

it('the example of a webhook in docs/notifications.md is a real one', () => {
  const docs = readFileSync(new URL('../../../docs/notifications.md', import.meta.url), 'utf8');
  const body = docs.match(/```json\n(\{\n[^`]*"incident\.opened"[^`]*)```/)?.[1] ?? '';
  const headers = { 'content-type': 'application/json' };
  expect(PROGRAMS.webhook.faults({ method: 'POST', path: '/hook', headers, body })).toEqual([]);
  expect(JSON.parse(body).data.subject.id).toBe(shortId('incident', 'config/acme', 'svc/4'));
});

describe('texts', () => {
  it('of Discord keep their words, and addresses stay addresses', () => {
    const { subject } = noticeOf();
    const write = (text: string): string =>
      JSON.parse(bodyOf('discord', noticeOf({ text, components: [], subject: { ...subject, impact: null } }))).embeds[0]
        .description ?? '';
    expect(write('**a** [x](https://evil.invalid) @everyone <@1>')).toBe(
      '\\*\\*a\\*\\* \\[x](https://evil.invalid) \\@everyone \\<\\@1\\>',
    );
    expect(write('see https://a.example/b_c-d?e=1')).toBe('see https://a.example/b_c-d?e=1');
    for (const raw of [
      'Details (https://a.example/b) and [there](https://a.example/c).',
      'https://a.example/*b* https://a.example/`c`, "https://a.example/d"',
      ...hostileTexts(300),
    ]) {
      const text = plainBlock(raw);
      const read = readDiscord(write(raw));
      // An address that a tag follows gets a space before it.
      expect([text, read?.text.replaceAll(' <', '<')]).toEqual([text, text.replaceAll(' <', '<')]);
      expect(read?.links).toEqual(text.match(/https?:\/\/[^\s<]+[^<.,:; "'\]\s]/g) ?? []);
    }
  });

  it('are cut between characters, to a limit that counts what is written', () => {
    const write = (text: string): string => text.replaceAll('&', '&amp;');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), fc.integer({ min: 6, max: 60 }), (text, max) => {
        const written = shorten(text, max, write);
        expect(written.length).toBeLessThanOrEqual(max);
        expect(written.isWellFormed()).toBe(text.isWellFormed() || written.isWellFormed());
        if (write(text).length <= max) expect(written).toBe(write(text));
        else expect(written.endsWith('…')).toBe(true);
      }),
      { numRuns: Math.ceil(200 * SCALE) },
    );
    expect(shorten('😀😀😀', 5)).toBe('😀😀…');
    // A family is one character, and so is a letter with its accents.
    expect(shorten('👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 14)).toBe('👨‍👩‍👧‍👦…');
    expect(shorten('e\u0301e\u0301e\u0301', 4)).toBe('e\u0301…');
    expect(shorten(`e${'\u0301'.repeat(5_000)}`, 20)).toMatch(/^e\u0301+…$/);
  });

  it('of Grafana OnCall keep their words and addresses, without a backslash', () => {
    const text = 'Details (https://a.example/b_c) at *all* nodes_1: [log](https://evil.invalid) & more';
    expect(JSON.parse(bodyOf('grafana_oncall', noticeOf({ text }))).message.split('\n')[0]).toBe(
      text.replace('](', '] ('),
    );
  });

  it('of Telegram mention nobody, and leave e-mail addresses alone', () => {
    const html = JSON.parse(bodyOf('telegram', noticeOf({ text: '@admin: ask ops@acme.example (@second_one)' }))).text;
    expect(html).toContain('@\u2060admin: ask ops@acme.example (@\u2060second_one)');
  });

  it('of Teams say in which direction they run, and what a notification shows', () => {
    const { page } = noticeOf();
    const card = (language: string) => JSON.parse(bodyOf('ms_teams', noticeOf({ page: { ...page, language } })));
    expect(card('ar').attachments[0].content).toMatchObject({ rtl: true, version: '1.5' });
    expect(card('en').attachments[0].content).not.toHaveProperty('rtl');
    expect(card('en').summary).toBe('Investigating: Errors at the API');
  });

  it('turn no direction outside of themselves', () => {
    for (const kind of KINDS) expect(bodyOf(kind, noticeSaying('a\u202eb\u2066c'))).not.toMatch(/[\u202e\u2066]/);
  });
});

it('there is a kind for each name, and email', () => {
  expect([...KINDS, 'email'].toSorted()).toEqual([...CHANNEL_KINDS].toSorted());
});

import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { parseConfig } from '../../src/config/load.ts';
import { CHANNEL_KINDS, type ChannelKindName } from '../../src/config/notifications.ts';
import { isStatusError } from '../../src/errors.ts';
import { Secret } from '../../src/schema/secret.ts';
import { CONNECTORS } from '../../src/sync/connectors/index.ts';
import { SIGNING_SECRET, settingsAt } from '../helpers/channels.ts';

const ORIGIN = 'https://hooks.example.net';
const SECRETS: Readonly<Record<string, string>> = {
  webhook_url: `${ORIGIN}/canary`,
  integration_key: 'canary-integration',
  api_key: 'canary-api',
  bot_token: '123456:canary-canary-canary-canary',
  token: 'canary-token',
};

function load(entries: unknown, more: object = {}) {
  const text = stringify({
    site: { url: 'https://status.example.com' },
    upstreams: [{ id: 'iac', kind: 'terraform', path: './state.json' }],
    access: { smtp: '${SMTP}', from: 'status@example.com' },
    notifications: entries,
    ...more,
  });
  return parseConfig({ text, file: '/etc/pharos.yaml', folder: '/etc' }, CONNECTORS, {
    ...SECRETS,
    SMTP: 'smtp://localhost',
    signing: SIGNING_SECRET,
  });
}

function faultsOf(entry: unknown, more?: object): string[] {
  try {
    load([entry], more);
    return [];
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return error.issues.map(({ path, message }) => `${path}: ${message.replace(/ \(line \d+\)$/, '')}`);
  }
}

/** An entry as somebody would write it, its secrets as references. */
function entryOf(kind: ChannelKindName): Record<string, unknown> {
  const own = Object.entries(settingsAt(ORIGIN)[kind]).map(([name, value]) => [
    name,
    name === 'secrets' ? ['${signing}'] : Object.hasOwn(SECRETS, name) ? `\${${name}}` : value,
  ]);
  return { id: kind, kind, ...Object.fromEntries(own) };
}

describe('notifications', () => {
  it('take every kind, and keep its secrets closed', () => {
    const config = load(CHANNEL_KINDS.map(entryOf));
    expect(config.notifications.map(({ id }) => id)).toEqual(CHANNEL_KINDS);
    expect(JSON.stringify(config)).not.toMatch(/canary|whsec_|hook-token|gateway-key/);
    expect(inspect({ ...config, secrets: null }, { depth: 9 })).not.toMatch(/canary|whsec_|hook-token|gateway-key/);
    for (const value of [...Object.values(SECRETS), SIGNING_SECRET]) expect(config.secrets).toContain(value);
  });

  it.each(CHANNEL_KINDS)('of kind %s need their settings, name strange ones, and take no secret in clear', (kind) => {
    const entry = entryOf(kind);
    const required = Object.keys(entry).filter(
      (name) => !['id', 'kind', 'region', 'token', 'server_url', 'headers', 'gateway_headers'].includes(name),
    );
    expect(required.length).toBeGreaterThan(0);
    for (const name of required) {
      const { [name]: _, ...rest } = entry;
      expect(faultsOf(rest)[0]).toContain(`notifications[0].${name}: `);
    }
    expect(faultsOf({ ...entry, colour: 'red' })).toEqual(['notifications[0]: unknown key colour']);
    for (const name of Object.keys(entry).filter((one) => Object.hasOwn(SECRETS, one)))
      expect(faultsOf({ ...entry, [name]: SECRETS[name] })[0]).toContain('secrets must not be in this file');
  });

  it('say which kinds there are, and which was meant', () => {
    const kinds = `Expected one of ${CHANNEL_KINDS.join(', ')}`;
    expect(faultsOf({ id: 'a', kind: 'slak' })).toEqual([
      `notifications[0].kind: unknown kind "slak". Did you mean slack? ${kinds}`,
    ]);
    expect(faultsOf({ id: 'a' })).toEqual([`notifications[0].kind: missing; expected a kind, or from. ${kinds}`]);
    expect(faultsOf({ id: 'a', kind: 'toString' })[0]).toContain('unknown kind "toString"');
    expect(faultsOf({ id: 'a', kind: 7 })[0]).toContain('unknown kind 7');
  });

  it('are tied to pages, components and monitors, of upstreams that there are', () => {
    const ties = { pages: ['acme'], components: ['acme/api'], monitors: ['iac/1'], locale: 'pt-BR' };
    const [channel] = load([{ ...entryOf('slack'), ...ties }]).notifications;
    expect(channel).toMatchObject({ id: 'slack', kind: 'slack', allow_private_hosts: [], ...ties });
    expect(channel).toHaveProperty('settings.webhook_url', expect.any(Secret));
    expect(faultsOf({ ...entryOf('slack'), monitors: ['ica/1'] })).toEqual([
      'notifications[0].monitors: there is no upstream ica. Did you mean iac?',
    ]);
    expect(faultsOf({ ...entryOf('slack'), pages: [] })).toHaveLength(1);
    expect(faultsOf({ ...entryOf('slack'), components: ['api'] })[0]).toContain('expected <page slug>/<component id>');
    expect(faultsOf({ ...entryOf('slack'), locale: 'klingon!' })[0]).toContain('locale: expected a language tag');
  });

  it('come from an upstream that there is', () => {
    const [source] = load([{ id: 'all', from: 'iac', gateway: 'https://sms.example.net/send' }]).notifications;
    expect(source).toMatchObject({ id: 'all', from: 'iac', gateway: 'https://sms.example.net/send' });
    expect(faultsOf({ id: 'all', from: 'ica' })).toEqual([
      'notifications[0].from: there is no upstream ica. Did you mean iac?',
    ]);
    expect(faultsOf({ id: 'all', from: 'iac', webhook_url: '${token}' })).toEqual([
      'notifications[0]: unknown key webhook_url',
    ]);
  });

  it('need https, but for hosts that are named', () => {
    const open = { ...entryOf('ntfy'), server_url: 'http://ntfy.lan:8080' };
    expect(faultsOf(open)).toEqual([
      'notifications[0].server_url: expected an https address; to send without TLS, add its host to allow_private_hosts; got "http://ntfy.lan:8080"',
    ]);
    expect(faultsOf({ ...open, allow_private_hosts: ['ntfy.lan'] })).toEqual([]);
    expect(faultsOf({ ...open, allow_private_hosts: ['NTFY.lan'] })).toEqual([]);
    expect(faultsOf({ ...open, server_url: 'http://[::1]:80', allow_private_hosts: ['::1'] })).toEqual([]);
    expect(faultsOf({ ...open, allow_private_hosts: ['other.lan'] })).toHaveLength(1);
    expect(faultsOf({ ...open, allow_private_hosts: ['a b'] })[0]).toContain('expected a host name or an IP address');
  });

  it('have an id each', () => {
    try {
      load([entryOf('slack'), { ...entryOf('discord'), id: 'slack' }]);
      expect.unreachable();
    } catch (error) {
      expect(String(error)).toContain('notifications[1].id: the id slack is used twice');
    }
  });

  it('by email need a mail server', () => {
    expect(faultsOf(entryOf('email'), { access: {} })).toEqual([
      'notifications[0].kind: an email channel needs a mail server: set access.smtp and access.from',
    ]);
  });

  it.each([
    ['sms', { phone_number: '030 123456' }, 'phone_number: expected a number in international format'],
    ['email', { email: 'nobody' }, 'email: '],
    ['telegram', { chat_id: 'my group' }, 'chat_id: expected a chat id'],
    ['ntfy', { topic: '../x' }, 'topic: expected at most 64 letters'],
    ['webhook', { headers: { 'X-A': 'a\r\nX-B: b' } }, 'headers'],
    ['webhook', { headers: { 'X A': 'a' } }, 'headers'],
    ['pagerduty', { region: 'mars' }, 'region: '],
  ] as const)('of kind %s refuse %j', (kind, change, expected) => {
    expect(faultsOf({ ...entryOf(kind), ...change })[0]).toContain(`notifications[0].${expected}`);
  });

  it('refuse a secret that nothing can be signed with, and say how one is made', () => {
    const text = { id: 'hook', kind: 'webhook', endpoint: ORIGIN, secrets: ['${token}'] };
    expect(faultsOf(text)).toEqual([
      'notifications[0].secrets[0]: expected whsec_ and 24 to 64 bytes in base64: echo "whsec_$(openssl rand -base64 32)"',
    ]);
  });
});

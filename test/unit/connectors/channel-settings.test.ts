import { describe, expect, it } from 'vitest';
import { CHANNEL_KINDS, CHANNEL_SETTINGS, type ChannelKindName } from '../../../src/config/notifications.ts';
import type { ChannelResource } from '../../../src/sync/connector.ts';
import { terraform } from '../../../src/sync/connectors/terraform/connector.ts';
import { uptimeService } from '../../../src/sync/connectors/uptime-service/connector.ts';
import { contextOf, drive } from '../../helpers/drive.ts';
import { OPENSTATUS_STEPS } from '../../helpers/openstatus-steps.ts';
import { respondWith } from '../../helpers/upstream-cases.ts';

const OPTIONS = terraform.optionsSchema.parse({ path: './state.json' });

async function channelsIn(file: unknown, options = OPTIONS): Promise<readonly ChannelResource[]> {
  const pull = terraform.channels?.(options as never, contextOf());
  if (pull === undefined) throw new Error('no channels');
  return (await drive(pull, respondWith({ FILE: file }))).result;
}

function stateOf(attributes: object): unknown {
  const instances = [{ attributes }];
  const resource = { mode: 'managed', type: 'svc_notification', name: 'ops', provider: 'p', instances };
  return { version: 4, serial: 1, lineage: 'x', outputs: {}, resources: [resource] };
}

describe('channels of terraform', () => {
  it('come with where they lead from a state', async () => {
    const attributes = {
      id: '31',
      name: 'On call',
      provider_type: 'slack',
      monitor_ids: ['2', '1'],
      slack: [{ webhook_url: 'https://hooks.example.net/s' }],
      discord: [],
    };
    expect(await channelsIn(stateOf(attributes))).toEqual([
      {
        id: 'up/31',
        name: 'On call',
        kind: 'slack',
        monitors: ['up/1', 'up/2'],
        settings: { webhook_url: 'https://hooks.example.net/s' },
      },
    ]);
  });

  it('come from sources with the values of variables, and without where one has none', async () => {
    const tf = (variable: string): string => `
variable "hook" { ${variable} }
resource "svc_http_monitor" "api" {
  name = "API"
  url  = "https://api.example.net"
  periodicity = "1m"
}
resource "svc_notification" "ops" {
  name          = "Ops"
  provider_type = "discord"
  monitor_ids   = [svc_http_monitor.api.id]
  discord { webhook_url = var.hook }
}`;
    const options = terraform.optionsSchema.parse({ path: './infra' });
    const ask = (text: string) => channelsIn([{ name: 'main.tf', text }], options);
    const [known] = await ask(tf('default = "https://discord.example.net/h"'));
    expect(known).toMatchObject({ kind: 'discord', settings: { webhook_url: 'https://discord.example.net/h' } });
    expect(known?.monitors).toHaveLength(1);
    const [unknown] = await ask(tf('sensitive = true'));
    expect(unknown).toMatchObject({ name: 'Ops', kind: 'discord', settings: null });
  });

  it('are shown in a pass without where they lead, as before', async () => {
    const attributes = { id: '1', provider_type: 'slack', slack: [{ webhook_url: 'https://canary.example.net' }] };
    const { result } = await drive(terraform.pull(OPTIONS, contextOf()), respondWith({ FILE: stateOf(attributes) }));
    expect(result.channels).toEqual([{ id: 'up/1', name: 'ops', kind: 'slack', monitors: [] }]);
    expect(JSON.stringify(result)).not.toContain('canary');
  });
});

describe('channels of an uptime service', () => {
  const { exchanges = [] } = OPENSTATUS_STEPS.find(({ name }) => name === '38-channels') ?? {};
  const options = uptimeService.optionsSchema.parse({
    rpcUrl: 'https://api.example.net/rpc',
    apiKey: 'k',
    preset: 'openstatus',
  });

  it('of every kind that a real one has come with settings that a channel of that kind takes', async () => {
    const pull = uptimeService.channels?.(options as never, contextOf());
    if (pull === undefined) throw new Error('no channels');
    const { result } = await drive(pull, (question) => {
      const path = new URL(question.url).pathname;
      const wanted = JSON.stringify(question.body);
      const found = exchanges.find(
        ({ request }) =>
          request.path.split('?')[0] === path && (path.endsWith('/ListNotifications') || request.body === wanted),
      );
      if (found === undefined) throw new Error(`${path} ${wanted}`);
      return JSON.parse(found.response.body);
    });
    expect(result.map(({ kind }) => kind).toSorted()).toEqual([...CHANNEL_KINDS].toSorted());
    const beside: Readonly<Record<string, object>> = {
      telegram: { bot_token: '123456:abcdefghijklmnop' },
      sms: { gateway: 'https://sms.example.net' },
      whatsapp: { gateway: 'https://sms.example.net' },
      webhook: { secrets: [`whsec_${Buffer.alloc(32).toString('base64')}`] },
    };
    for (const { kind, settings } of result) {
      const parsed = CHANNEL_SETTINGS[kind as ChannelKindName].safeParse({ ...settings, ...beside[kind] });
      expect([kind, parsed.error?.issues ?? []]).toEqual([kind, []]);
    }
  });
});

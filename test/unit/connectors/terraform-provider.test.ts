import { describe, expect, it } from 'vitest';
import type { Learned } from '../../../src/model/observation.ts';
import { terraform } from '../../../src/sync/connectors/terraform/connector.ts';
import { LOOKUP_RULES, RESOURCE_RULES } from '../../../src/sync/connectors/terraform/schema.ts';
import { contextOf, drive } from '../../helpers/drive.ts';
import { loadCases, respondWith } from '../../helpers/upstream-cases.ts';

const CASE = loadCases('terraform').find(({ name }) => name === 'ok-provider');
const FILES = (CASE?.answers['FILE'] ?? []) as readonly { readonly name: string; readonly text: string }[];

interface Address {
  readonly mode: 'resource' | 'data';
  readonly type: string;
  readonly name: string;
}

const ADDRESSES = FILES.flatMap(({ text }) =>
  [...text.matchAll(/^(resource|data) "openstatus_(\w+)" "(\w+)"/gm)].map(
    ([, mode = '', type = '', name = '']): Address => ({ mode: mode === 'data' ? 'data' : 'resource', type, name }),
  ),
);

async function learn(files = FILES): Promise<Learned> {
  const options = terraform.optionsSchema.parse(CASE?.options);
  const { result } = await drive<Learned>(terraform.pull(options, contextOf()), respondWith({ FILE: files }));
  return result;
}

describe('what the provider of openstatus documents', () => {
  it('is all in the sources of this test', () => {
    const types = (mode: Address['mode']) =>
      [...new Set(ADDRESSES.filter((one) => one.mode === mode).map(({ type }) => type))].toSorted();
    expect(types('resource')).toEqual(Object.keys(RESOURCE_RULES).toSorted());
    expect(types('data')).toEqual(Object.keys(LOOKUP_RULES).toSorted());
  });

  it('is taken or named, each by its address', async () => {
    const { monitors, pages, channels = [], problems } = await learn();
    const taken = new Set([
      ...monitors.map(({ id }) => id.slice('up/'.length).replace('.', ' ')),
      ...channels.map(({ id }) => `notification ${id.slice('up/'.length)}`),
      ...pages.map(({ id }) => `status_page ${id.slice('up/'.length)}`),
      ...pages.flatMap((page) => page.groups.map(({ id }) => `status_page_component_group ${id}`)),
      ...pages.flatMap((page) => page.components.map(({ id }) => `status_page_component ${id}`)),
    ]);
    const outcomes = ADDRESSES.map(({ mode, type, name }) => {
      const address = `${mode === 'data' ? 'data.' : ''}openstatus_${type}.${name}`;
      const told = problems.filter(({ place }) => place === address || place.startsWith(`${address}.`));
      const ids: Readonly<Record<string, string>> = {
        other: type.startsWith('monitor') ? '41' : type === 'notification' ? '42' : '43',
      };
      const isTaken =
        taken.has(`${type} ${name}`) ||
        (mode === 'data' && (taken.has(`${type} ${ids[name]}`) || monitors.some(({ id }) => id === `up/${ids[name]}`)));
      return {
        address,
        isTaken,
        told: told.map(({ place, message }) => `${place.slice(address.length)} ${message}`.trim()),
      };
    });
    expect(outcomes.filter(({ isTaken, told }) => !isTaken && told.length === 0)).toEqual([]);
    const WHERE = 'left out: check locations are not shown';
    expect(outcomes.filter(({ isTaken }) => !isTaken).map(({ address, told }) => [address, ...told])).toEqual([
      ['data.openstatus_monitors.all', 'left out: a list for lookups'],
      ['data.openstatus_status_page.other', '.slug left out: the whole page, because this is not known here'],
      ['data.openstatus_status_page.unused', 'left out: a data source that nothing refers to'],
      ['data.openstatus_private_location.other', WHERE],
      ['data.openstatus_private_locations.all', WHERE],
      ['openstatus_private_location.cellar', WHERE],
      [
        'openstatus_status_page_component.elsewhere',
        '.page_id left out: the whole component, because its page is not known here',
      ],
      [
        'openstatus_status_page_component.lost',
        '.page_id left out: the whole component, because its page is not known here',
      ],
    ]);
    expect([monitors.length, pages.length, channels.length, outcomes.length]).toEqual([6, 4, 14, 35]);
  });

  it('is told by its address where it is written twice', async () => {
    const { problems } = await learn([...FILES, { name: 'z.tf', text: FILES[2]?.text ?? '' }]);
    expect(problems).toContainEqual({
      kind: 'note',
      place: 'openstatus_tcp_monitor.queue',
      message: 'defined 2 times; one is shown',
    });
  });
});

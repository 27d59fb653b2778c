import { afterEach, describe, expect, it } from 'vitest';
import type { Call } from '../../../src/incidents/operation.ts';
import { matchOperation } from '../../../src/incidents/operations.ts';
import { authorPage, loadWritingPage } from '../../../src/incidents/writing-page.ts';
import { createSiteMemory } from '../../../src/publish/definitions/site-memory.ts';
import { closeSmallSites, createSmallSite } from '../../helpers/small-site.ts';

/** Does what the API does for a request, and counts how often the page's model is computed. */
async function startApi() {
  const site = createSmallSite({ pages: ['acme'] });
  await site.pass();
  const state = await createSiteMemory(site.store, { since: null }).refresh(site.inputs, site.clock.now);
  const [page] = state.resolved.pages;
  if (page === undefined) throw new Error('the site has no page');
  let reads = 0;
  let last = 0;
  return async (method: string, path: string, body: unknown = null) => {
    const { operation, params } = matchOperation(method, ['pages', 'acme', ...path.split('/')]);
    if (operation === null) throw new Error(`there is no ${method} ${path}`);
    reads = 0;
    const call: Call = {
      author: { actor: 'test', client: null, now: site.clock.now, page: authorPage(page), request: null },
      ...{ params, body, query: new URLSearchParams(), version: null, pages: [page] },
      database: site.store.database,
      newSuffix: () => {
        last += 1;
        return `n${last}`;
      },
      templates: () => [],
      load: async () => {
        reads += 1;
        const writing = await loadWritingPage(site.store, { state, slug: 'acme', now: site.clock.now });
        if (writing === null) throw new Error('the page is gone');
        return writing;
      },
      publish: async () => undefined,
      subscribers: {
        seal: { seal: (text) => text, open: (text) => text, hash: (text) => text },
        random: (length) => Buffer.alloc(length),
        gateOf: () => '',
      },
    };
    const answer = (await operation.run(call)) as { readonly id: string; readonly incident_updates: { id: string }[] };
    return { reads, answer };
  };
}

afterEach(closeSmallSites);

describe('an operation of the API', () => {
  it('computes the page once before a write and once after it', async () => {
    const ask = await startApi();
    const incident = { name: 'Errors', status: 'resolved', body: 'It was short.', components: { c0: 'major_outage' } };
    const created = await ask('POST', 'incidents', { incident });
    const place = `incidents/${created.answer.id}`;
    const update = created.answer.incident_updates[0]?.id ?? '';
    expect({
      create: created.reads,
      update: (await ask('PATCH', place, { incident: { body: 'More.' } })).reads,
      edit: (await ask('PATCH', `${place}/incident_updates/${update}`, { incident_update: { body: 'Less.' } })).reads,
      postmortem: (await ask('PUT', `${place}/postmortem`, { postmortem: { body_draft: 'Why.' } })).reads,
      publish: (await ask('PUT', `${place}/postmortem/publish`, {})).reads,
      component: (await ask('PATCH', 'components/c1', { component: { status: 'degraded_performance' } })).reads,
    }).toEqual({ create: 2, update: 2, edit: 2, postmortem: 2, publish: 2, component: 2 });
    expect((await ask('DELETE', place)).reads).toBe(1);
  });

  it('computes no page for what follows from its definition', async () => {
    const ask = await startApi();
    expect((await ask('GET', 'subscribers')).reads).toBe(0);
  });
});

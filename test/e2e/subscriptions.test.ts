import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  declare,
  linkIn,
  pathOf,
  type SubscribingSite,
  startSubscribingSite,
  tokenOf,
} from '../helpers/subscribing-site.ts';
import { callApi } from '../helpers/writing-site.ts';

let site: SubscribingSite;
beforeAll(async () => {
  site = await startSubscribingSite();
}, 60_000);
afterAll(() => site?.close());

const soon = (): Promise<void> => new Promise((done) => setTimeout(done, 700));

describe('subscribing to a page', () => {
  it('sends one mail for an incident to whoever asked and confirmed, and none to who did not', async () => {
    const form = await site.get('/acme/subscribe/');
    expect(form.status).toBe(200);
    expect(form.body).toContain('name="email"');
    expect(form.body).toMatch(/name="component" value="api"/);
    expect((await site.get('/acme/')).body).toContain('http://127.0.0.1:4321/acme/subscribe/');
    expect((await site.get('/quiet/')).body).not.toContain('/subscribe/');

    await site.subscribe('acme', 'one@mail.example');
    await site.post('/acme/subscribe/', [['email', 'never@mail.example']]);
    await site.mailTo('never@mail.example');

    await declare(site.url(), 'acme', {
      name: 'Errors at the API',
      component_ids: ['api'],
      body: 'We are **looking**.',
    });
    const mail = await site.mailTo('one@mail.example', 1);
    expect(mail.headers.get('subject')).toBe('[Acme] New incident: Errors at the API');
    expect(mail.text).toContain('We are looking.');
    expect(mail.text).toContain('Affects API');
    expect(mail.html).toContain('<html lang="en"');
    expect(mail.headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    await soon();
    expect(site.sink.to('one@mail.example')).toHaveLength(2);
    expect(site.sink.to('never@mail.example')).toHaveLength(1);
  });
});

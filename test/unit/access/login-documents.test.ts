import { describe, expect, it } from 'vitest';
import { createLoginDocuments, plainLogin } from '../../../src/access/login/login-documents.ts';
import { LOGIN_STEPS, type LoginPrompt } from '../../../src/model/access.ts';
import { loginView } from '../../../src/views/login/login.ts';

const kinds = { hasPassword: true, hasEmail: true, hasOidc: false };

describe('the documents of the gates', () => {
  it('are drawn once each, however many pages are asked for', async () => {
    const drawn: LoginPrompt[] = [];
    const documents = createLoginDocuments(
      async (prompt) => {
        drawn.push(prompt);
        return plainLogin(prompt);
      },
      () => undefined,
    );
    for (const slug of ['a', 'b', 'c'])
      await documents.answer({ status: 404, step: 'sign-in', kinds, base: `/${slug}/`, to: 'history/' });
    expect(drawn).toHaveLength(1);
  });

  it('are in the language of the address that was asked for', async () => {
    const documents = createLoginDocuments(
      async (prompt) => ({ html: `${prompt.base} ${prompt.locale}`, csp: '' }),
      () => undefined,
      (to) => (to.startsWith('de/') ? 'de' : null),
    );
    const bodyOf = async (to: string) =>
      (await documents.answer({ status: 404, step: 'sign-in', kinds, base: '/a/', to })).body;
    expect(await bodyOf('de/history/')).toBe('/a/ de');
    expect(await bodyOf('history/')).toBe('/a/ null');
  });

  it('hold what was asked for as text only', async () => {
    const documents = createLoginDocuments(plainLogin, () => undefined);
    const { body } = await documents.answer({
      status: 200,
      step: 'confirm',
      kinds,
      base: '/a/',
      to: '"><script>alert(1)</script>',
      token: '\' onx="place-of-way-back',
    });
    expect(body).not.toContain('<script>');
    expect(body).not.toContain('" onx');
    // A value that looks like a place is not filled in again.
    expect(body).toContain('place-of-way-back');
  });

  it.each([
    ['/acme/', '/'],
    ['/status/acme/', '/status/'],
  ])('of a page at %s lead back to the site at %s', async (base, home) => {
    const documents = createLoginDocuments(plainLogin, () => undefined);
    const ask = (place: string) => documents.answer({ status: 404, step: 'sign-in', kinds, base: place, to: '' });
    expect((await ask(base)).body).toContain(`<a href="${home}">`);
    expect((await ask('/')).body).not.toContain('<a ');
  });

  it('fall back to plain ones while the renderer fails, and come back with it', async () => {
    let isBroken = true;
    const errors: unknown[] = [];
    const documents = createLoginDocuments(
      async (prompt) => {
        if (isBroken) throw new Error('no renderer');
        return { ...(await plainLogin(prompt)), csp: 'themed' };
      },
      (error) => errors.push(error),
    );
    const ask = () => documents.answer({ status: 404, step: 'sign-in', kinds, base: '/a/', to: '' });
    expect((await ask()).body).toContain('action="/a/login/"');
    isBroken = false;
    expect((await ask()).headers['content-security-policy']).toBe("themed;frame-ancestors 'none'");
    expect(errors).toHaveLength(1);
  });

  it.each(LOGIN_STEPS)('of the step %s are in the look and language of the site', async (step) => {
    const errors: unknown[] = [];
    const documents = createLoginDocuments(
      async (prompt) => ({ html: JSON.stringify(loginView({ ...prompt, locale: 'de' })), csp: '' }),
      (error) => errors.push(error),
    );
    const next = 'https://id.example/end';
    const { body } = await documents.answer({ status: 200, step, kinds, base: '/a/', to: '', next });
    expect(errors).toEqual([]);
    expect(body).toContain('"locale":"de"');
    expect(body.includes(next)).toBe(step === 'signed-out');
  });

  it('are in the look of the site too if no page has a gate by the time that somebody comes back', async () => {
    const errors: unknown[] = [];
    const documents = createLoginDocuments(
      async (prompt) => ({ html: JSON.stringify(loginView({ ...prompt, locale: 'de' })), csp: '' }),
      (error) => errors.push(error),
    );
    const none = { hasPassword: false, hasEmail: false, hasOidc: false };
    const { body } = await documents.answer({ status: 403, step: 'sign-in', kinds: none, base: '/a/', to: '' });
    expect([errors, body]).toEqual([[], expect.stringContaining('"locale":"de"')]);
  });

  it('are fit for password managers and work without a script', async () => {
    const documents = createLoginDocuments(plainLogin, () => undefined);
    const { body } = await documents.answer({ status: 404, step: 'sign-in', kinds, base: '/acme/', to: 'history/' });
    expect(body).not.toContain('<script');
    expect(body).toMatch(/name="username" autocomplete="username" value="acme"/);
    expect(body).toMatch(/type="password" autocomplete="current-password"/);
    expect(body).toMatch(/type="email" autocomplete="email"/);
    expect(body).toMatch(/name="to" value="history\/"/);
  });
});

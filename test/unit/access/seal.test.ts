import { hash, webcrypto } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { SEAL_ROUNDS, sealPage } from '../../../src/access/sealed/seal.ts';
import { sealWords } from '../../../src/views/login/login.ts';

const PASSWORD = 'CANARY-password';
const STYLE = 'body{color:CanvasText}';
const SCRIPT = 'document.title = "CANARY-ran"; // last';
const sha = (text: string): string => `sha256-${hash('sha256', text, 'base64')}`;
const PAGE = `<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none';script-src '${sha(SCRIPT)}';style-src '${sha(STYLE)}'"><title>CANARY-title</title><style>${STYLE}</style></head><body>CANARY-body \u00e9\u{1f7e2}<script>${SCRIPT}</script><script>injected()</script></body></html>`;

/** Opens a sealed file as its own script does, with node's implementation. */
async function unseal(file: string, password: string): Promise<string> {
  const [, , rounds, ...parts] = /id="sealed">(1)\.(\d+)\.([^.]+)\.([^.]+)\.([^<]+)</.exec(file) ?? [];
  const [salt, iv, data] = parts.map((part) => new Uint8Array(Buffer.from(part, 'base64')));
  if (salt === undefined || iv === undefined || data === undefined) throw new Error('no sealed page');
  const base = await webcrypto.subtle.importKey('raw', new TextEncoder().encode(password), 'PBKDF2', false, [
    'deriveKey',
  ]);
  const key = await webcrypto.subtle.deriveKey(
    { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: Number(rounds) },
    base,
    { name: 'AES-GCM', length: 256 },
    false,
    ['decrypt'],
  );
  const plain = await webcrypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, data);
  return gunzipSync(new Uint8Array(plain, 4, new DataView(plain).getUint32(0))).toString('utf8');
}

describe('a sealed page', () => {
  it('holds the whole page for its password, and nothing readable for anybody else', async () => {
    const file = await sealPage(PAGE, PASSWORD, { words: sealWords('en') });
    const opened = await unseal(file, PASSWORD);
    expect(opened).toContain('<title>CANARY-title</title>');
    expect(opened).toContain('CANARY-body \u00e9\u{1f7e2}');
    const everything =
      file + file.replace(/[A-Za-z0-9+/=]{24,}/g, (text) => Buffer.from(text, 'base64').toString('latin1'));
    expect(everything).not.toContain('CANARY');
    for (const wrong of ['', 'x', `${PASSWORD} `, PASSWORD.toLowerCase()])
      await expect(unseal(file, wrong)).rejects.toThrow();
  });

  it('makes a guess as dear as OWASP advises', async () => {
    expect(SEAL_ROUNDS).toBeGreaterThanOrEqual(600_000);
    expect(await sealPage(PAGE, PASSWORD, { words: sealWords('en') })).toContain(`>1.${SEAL_ROUNDS}.`);
  });

  it('is another file each time, of a size that tells little', async () => {
    const files = [
      await sealPage(PAGE, PASSWORD, { words: sealWords('en') }),
      await sealPage(PAGE, PASSWORD, { words: sealWords('en') }),
      await sealPage(PAGE.replace('CANARY-body', ''), PASSWORD, { words: sealWords('en') }),
    ];
    expect(new Set(files).size).toBe(3);
    expect(new Set(files.map((file) => file.length)).size).toBe(1);
  });

  it('does not open when a byte of it was changed', async () => {
    const file = await sealPage(PAGE, PASSWORD, { words: sealWords('en') });
    const changed = file.replace(
      /(id="sealed">[^<]+)(.)(<)/,
      (_all, head: string, last: string, end: string) =>
        head.slice(0, -9) + (head.at(-9) === 'A' ? 'B' : 'A') + head.slice(-8) + last + end,
    );
    expect(changed).not.toBe(file);
    await expect(unseal(changed, PASSWORD)).rejects.toThrow();
  });

  it('allows the styles and scripts that the page allows, by hashes that hint at nothing inside', async () => {
    const file = await sealPage(PAGE, PASSWORD, { words: sealWords('en') });
    const opened = await unseal(file, PASSWORD);
    const policy = /content="(default-src[^"]+)"/.exec(file)?.[1] ?? '';
    const inline = [...opened.matchAll(/<(?:style|script)>([\s\S]*?)<\/(?:style|script)>/g)].map(
      ([, content = '']) => content,
    );
    expect(inline).toHaveLength(3);
    expect(inline.map((content) => policy.includes(sha(content)))).toEqual([true, true, false]);
    expect(policy).not.toContain(sha(SCRIPT));
    expect(policy).not.toContain(sha(STYLE));
    expect(opened).not.toContain('Content-Security-Policy');
    for (const directive of ["default-src 'none'", "form-action 'none'", "base-uri 'none'"])
      expect(policy).toContain(directive);
    expect(policy).not.toContain('unsafe');
  });
});

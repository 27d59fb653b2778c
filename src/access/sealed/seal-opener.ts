/** What opens a sealed page in the visitor's browser: its whole script and style, as they stand in the file. */

/**
 * Checks for what it needs, derives the key, decrypts, and writes the page over itself. Writing keeps the document's
 * policy, so that the page inside may do no more than the file allows.
 */
export const OPENER = `(() => {
  const form = document.getElementById('form');
  const field = document.getElementById('password');
  const said = document.getElementById('said');
  const [version, rounds, ...parts] = document.getElementById('sealed').textContent.split('.');
  const [salt, iv, sealed] = parts.map((part) => Uint8Array.from(atob(part), (byte) => byte.charCodeAt(0)));
  if (version !== '1' || !globalThis.crypto?.subtle || !globalThis.DecompressionStream) {
    said.textContent = said.dataset.noCrypto;
    return;
  }
  form.hidden = false;
  field.focus();
  const open = async (password) => {
    const typed = new TextEncoder().encode(password.normalize('NFKC'));
    const base = await crypto.subtle.importKey('raw', typed, 'PBKDF2', false, ['deriveKey']);
    const kind = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: Number(rounds) };
    const key = await crypto.subtle.deriveKey(kind, base, { name: 'AES-GCM', length: 256 }, false, ['decrypt']);
    const padded = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, sealed);
    const packed = new Uint8Array(padded, 4, new DataView(padded).getUint32(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    field.removeAttribute('aria-invalid');
    said.textContent = said.dataset.working;
    let page;
    try {
      page = await open(field.value);
    } catch {
      said.textContent = said.dataset.wrong;
      field.setAttribute('aria-invalid', 'true');
      field.select();
      return;
    }
    document.open();
    document.write(page);
    document.close();
  });
})();`;

export const SEAL_STYLE =
  ':root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:24rem;margin:15vh auto;padding:0 1rem}' +
  'h1{font-size:1.25rem}label{display:block;margin:1rem 0 .25rem}input,button{font:inherit;padding:.5rem .75rem;box-sizing:border-box}' +
  'input{width:100%}button{margin-top:.75rem}';

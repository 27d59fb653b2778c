/** Puts a badge together from what is chosen: the picture of it, and the lines to copy. */

import { badgeSnippets } from '../../views/badges/snippets.ts';

const builder = document.getElementById('builder');
const field = (name: string) => builder?.querySelector<HTMLSelectElement | HTMLInputElement>(`[name=${name}]`);
const chosen = (name: string) => field(name)?.value.trim() ?? '';

function fieldText(name: string): string {
  const one = field(name);
  return one instanceof HTMLSelectElement ? (one.selectedOptions[0]?.text.trim() ?? '') : '';
}

/** Whether badges are drawn as an address asks for; a static host has files only, which are as the page has them. */
let isDrawnOnDemand = true;

function draw(): void {
  if (!builder) return;
  const [path, kind, scheme] = [chosen('subject'), chosen('kind'), chosen('scheme')];
  const options = new URLSearchParams();
  for (const name of ['style', 'label']) if (isDrawnOnDemand && chosen(name)) options.set(name, chosen(name));
  const query = options.size > 0 ? `?${options}` : '';
  const url = builder.dataset['url'] ?? '';
  const { alt, svg, snippets } = badgeSnippets({
    alt: `${fieldText('subject')}: ${fieldText('kind')}`,
    address: `${url}${path}badges/${kind}`,
    href: path.startsWith('groups/') ? url : url + path,
    scheme: scheme === 'light' || scheme === 'dark' ? scheme : 'auto',
    query,
  });
  const image = builder.querySelector('img');
  // From where this page is, which need not be the address that it is published at.
  if (image) Object.assign(image, { alt, src: `../${svg.slice(url.length)}` });
  for (const { language, text } of [...snippets, { language: 'URL', text: svg }]) {
    const place = builder.querySelector(`[data-language=${language}]`);
    const [code, button] = [place?.querySelector('code'), place?.querySelector('button')];
    if (code) code.textContent = text;
    if (button?.dataset['copy']) button.textContent = button.dataset['copy'];
  }
}

/** Of groups and components a static host has few kinds. */
function offerKinds(): void {
  const kinds = field('kind');
  if (isDrawnOnDemand || !(kinds instanceof HTMLSelectElement)) return;
  for (const option of kinds.options)
    option.disabled = chosen('subject') !== '' && option.dataset['parts'] === undefined;
  if (kinds.selectedOptions[0]?.disabled) kinds.value = kinds.options[0]?.value ?? '';
}

/** Asks for a badge with another label: where it is the same, no option is heard. */
async function learn(): Promise<void> {
  const address = `../badges/${chosen('kind')}.svg`;
  const texts = [address, `${address}?label=${Date.now()}`].map(async (one) => (await fetch(one)).text());
  const [plain, labelled] = await Promise.all(texts);
  isDrawnOnDemand = plain !== labelled;
  for (const name of ['style', 'label']) field(name)?.toggleAttribute('disabled', !isDrawnOnDemand);
  offerKinds();
}

builder?.addEventListener('input', () => {
  offerKinds();
  draw();
});
if (builder) learn().catch(() => {});

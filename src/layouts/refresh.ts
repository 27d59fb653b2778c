/**
 * Puts what the server has by now in place of what is shown, so that nothing moves under the reader's eye: what has the focus,
 * what is folded, chosen or scrolled, and the place that is read are found by name in the new version and kept. Scripts of parts
 * hear `pharos:refresh` on the document once what is new is in place, before what is read is put back where it was.
 */

export const root = document.documentElement;
export const all = <E extends Element>(selector: string, within: ParentNode = document) =>
  within.querySelectorAll<E>(selector);

const FOCUSABLE = 'a,input,select,summary,button,[tabindex]';
/** Boxes that may have been scrolled sideways. */
const WIDE = '#body :is(pre,[tabindex])';
/** What stays what it is from one version to the next, of which there is always some in sight. */
const READ = '#body :is(h2,h3,h4,[id])';

/** By what an element is known again in another version of the page. */
function elementName(element: HTMLElement): string {
  if (element.id) return element.id;
  const { localName, ariaLabel, textContent, dataset, firstElementChild } = element;
  // A button that has copied says so.
  if (localName !== 'details') return localName + (ariaLabel ?? dataset['link'] ?? dataset['copy'] ?? textContent);
  // What is folded by its heading, whatever its state; else by that above it and its own text, whatever it counts.
  const own = element.querySelector('h3');
  if (own) return own.textContent;
  const above = element.closest('article,section')?.querySelector('h2,h3')?.textContent ?? '';
  return above + firstElementChild?.textContent?.replace(/\p{N}+/gu, '');
}

/** Remembers an element among those of a kind; its counterpart is looked for in what is shown by then. */
function counterpart<E extends HTMLElement>(selector: string, element: E): () => E | undefined {
  const name = elementName(element);
  const same = () => [...all<E>(selector)].filter((one) => elementName(one) === name);
  const at = same().indexOf(element);
  return () => same()[at];
}

/** A list of pages is as old as the oldest of them, so its text counts too. */
function readVersion(from: Document): string {
  return from.documentElement.dataset['staleAfter'] + (all('#body', from)[0]?.textContent ?? '');
}

function readCanonical(within: ParentNode = document): string | undefined {
  return all<HTMLLinkElement>('link[rel=canonical]', within)[0]?.href;
}

/** Of what the page may run and be styled with: an upgrade has another, and so has another look of the page. */
function readPolicy(from: Document): string | undefined {
  return all<HTMLMetaElement>('meta[http-equiv]', from)[0]?.content;
}

/** The server has other styles and scripts than these, which suit what it says no longer. */
let isOutgrown = false;

/** Loads the page anew where nobody is disturbed: it is not looked at, or it is at its top with no focus in it. */
export function renew(): boolean {
  const isCalm = document.hidden || (scrollY === 0 && !document.activeElement?.matches(FOCUSABLE));
  if (isOutgrown && isCalm) location.reload();
  return isOutgrown && isCalm;
}

/** What the banner says of the state, not when it was checked or how long it has lasted, in whatever zone times are written. */
function readState(from: Document): string | null {
  const state = all('#state', from)[0]?.cloneNode(true) as HTMLElement | undefined;
  if (!state) return null;
  for (const said of all('[data-checked],[data-since]', state)) said.remove();
  for (const time of all<HTMLTimeElement>('time', state)) time.textContent = time.dateTime;
  return state.textContent;
}

/** What people wrote. */
const readProse = (from: Document) => [...all('#body .prose', from)].map((one) => one.textContent.trim());

/** What is to be read out stands here: the region has to be there before. */
const news = Object.assign(document.createElement('p'), { className: 'vh', role: 'status' });
if (root.dataset['staleAfter']) document.body.append(news);

/** Of what is shown, as the server sent it. */
let version = readVersion(document);

/** What the server has by now takes the place of what is shown, if it is another version. */
export async function refresh(): Promise<void> {
  const answer = await fetch(location.href, { cache: 'no-cache' });
  if (!answer.ok) return;
  // Its styles are not applied, and a policy would complain of those that are not this page's.
  const text = (await answer.text()).replace(/<(style)[\s\S]*?<\/\1>/g, '');
  const fresh = new DOMParser().parseFromString(text, 'text/html');
  const next = fresh.documentElement;
  // Another page at this address, as before a gate, is none of ours.
  if (readCanonical(fresh) !== readCanonical()) return;
  isOutgrown = readPolicy(fresh) !== readPolicy(document);
  if (renew() || readVersion(fresh) === version) return;
  version = readVersion(fresh);
  const known = new Set(readProse(document));
  news.textContent = readProse(fresh)
    .filter((one) => !known.has(one))
    .join(' ');
  const folded = [...all<HTMLDetailsElement>('details')].map((one) => ({ find: counterpart('details', one), one }));
  const chosen = [...all('input:checked')].map(({ id }) => id);
  const scrolled = [...all<HTMLElement>(WIDE)]
    .filter(({ scrollLeft }) => scrollLeft !== 0)
    .map((one) => ({ find: counterpart(WIDE, one), left: one.scrollLeft }));
  const active = document.activeElement as HTMLElement | null;
  const focused = active?.matches(FOCUSABLE) ? counterpart(FOCUSABLE, active) : undefined;
  // What is read stays where it is, whatever comes above: what has the focus, or else the first that is in sight. At the top
  // what is new is to be seen.
  const isInSight = (one: Element, { top } = one.getBoundingClientRect()) => top >= 0 && top < innerHeight;
  const isRead = active && focused && isInSight(active);
  const read = isRead ? active : [...all<HTMLElement>(READ)].find((one) => isInSight(one));
  const place = read?.getBoundingClientRect().top ?? 0;
  const reading = scrollY > 0 ? (isRead ? focused : read && counterpart(READ, read)) : undefined;
  root.className = next.className;
  // What is over does not go stale any more.
  const { staleAfter } = next.dataset;
  if (staleAfter) root.dataset['staleAfter'] = staleAfter;
  else delete root.dataset['staleAfter'];
  document.title = fresh.title;
  // The region stays the same element, so that what is new in it is read out, and nothing else.
  const state = readState(fresh) === readState(document) ? '#state [data-checked]' : '#state';
  for (const part of ['link[rel=icon]', state, '#title', '#stale', '#body', 'footer']) {
    const [from] = all(part, fresh);
    const [to] = all(part);
    if (!to) continue;
    if (from && part === state) to.replaceChildren(...from.childNodes);
    else if (from) to.replaceWith(from);
    else if (part === '#stale') to.remove();
  }
  for (const { find, one } of folded) {
    const found = find();
    if (found) found.open = one.open;
  }
  for (const input of all<HTMLInputElement>('input')) input.checked ||= chosen.includes(input.id);
  // Scripts of parts take up what is new before anything is put back in its place.
  document.dispatchEvent(new Event('pharos:refresh'));
  for (const { find, left } of scrolled) {
    const found = find();
    if (found) found.scrollLeft = left;
  }
  const there = reading?.();
  if (there) scrollBy({ top: there.getBoundingClientRect().top - place, behavior: 'instant' });
  focused?.()?.focus({ preventScroll: true });
}

/**
 * Progressive enhancement for those who have script: their own time, when the page was checked, how long things have lasted, a
 * warning on an old copy, the new state without loading anew, and copying. The page says everything without it. Kept below 2 kB.
 */

import { durationParts } from '../views/text/duration.ts';

const root = document.documentElement;
const all = <E extends Element>(selector: string, within: ParentNode = document) =>
  within.querySelectorAll<E>(selector);

const local = new Intl.DateTimeFormat(root.lang, { dateStyle: 'full', timeStyle: 'long' });
const relative = new Intl.RelativeTimeFormat(root.lang, { numeric: 'auto' });
/** Absent in older browsers, which show when things began and not for how long they have lasted. */
const length = Intl.DurationFormat && new Intl.DurationFormat(root.lang, { style: 'short' });

/** What the server says of the present: see `views/json/now-json.ts`. */
interface Now {
  readonly checkedAt: string | null;
  readonly release: number;
}

/** Of what is shown, as the server sent it. */
let version = versionOf(document);

/** When the upstreams were heard from last, as far as we were told. */
let checkedAt: number | null = null;

/** @param ms  before (negative) or after the present */
function ago(ms: number): string {
  const seconds = Math.abs(ms) / 1_000;
  if (seconds < 60) return relative.format(Math.round(ms / 1_000), 'second');
  if (seconds < 3_600) return relative.format(Math.round(ms / 60_000), 'minute');
  return relative.format(Math.round(ms / 3_600_000), 'hour');
}

/** The visitor's time in every tooltip. */
function times(): void {
  for (const time of all<HTMLTimeElement>('time')) time.title = local.format(new Date(time.dateTime));
}

/** What grows older while it is read: when the page was checked, and how long what is open has lasted. */
function tick(): void {
  const now = Date.now();
  for (const checked of all<HTMLElement>('[data-checked]')) {
    if (checkedAt === null) continue;
    // A clock that is behind ours makes it no later than now.
    const said = ago(Math.min(0, checkedAt - now));
    // Shorter than what stood here: its room stays, so that nothing below moves.
    const line = checked.parentElement;
    if (line && !line.style.minHeight) line.style.minHeight = `${line.offsetHeight}px`;
    checked.textContent = checked.dataset['checked']?.replace('{ago}', said) ?? '';
  }
  for (const open of all<HTMLElement>('[data-since]')) {
    const from = Date.parse(open.dataset['since'] ?? '');
    if (!length || !(from < now)) continue;
    open.textContent = length.format(durationParts(now - from));
  }
}

/** Nothing on an old copy is shown as working. */
function age(): void {
  if (!(Date.now() > Number(root.dataset['staleAfter']))) return;
  root.classList.add('is-stale');
  for (const warning of all<HTMLElement>('#stale')) warning.hidden = false;
}

/** Null: nobody tells, as in a copy on a disk or behind a gate that closed. */
async function askNow(): Promise<Now | null> {
  const [place] = all<HTMLElement>('[data-now]');
  if (!place?.dataset['now']) return null;
  const answer = await fetch(place.dataset['now'], { cache: 'no-cache' });
  if (!answer.ok) {
    // A body that nobody reads keeps its connection.
    await answer.body?.cancel();
    return null;
  }
  const now: Now = await answer.json();
  if (now.checkedAt !== null) checkedAt = Date.parse(now.checkedAt);
  tick();
  return now;
}

const FOCUSABLE = 'a,input,select,summary,button,.cells';
/** What stays what it is from one version to the next, of which there is always some in sight. */
const READ = '#body :is(h2,h3,h4,[id])';

/** By what an element is known again in another version of the page. */
function nameOf(element: HTMLElement): string {
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
  const name = nameOf(element);
  const same = () => [...all<E>(selector)].filter((one) => nameOf(one) === name);
  const at = same().indexOf(element);
  return () => same()[at];
}

/** A list of pages is as old as the oldest of them, so its text counts too. */
function versionOf(from: Document): string {
  return from.documentElement.dataset['staleAfter'] + (all('#body', from)[0]?.textContent ?? '');
}

function canonicalOf(within: ParentNode = document): string | undefined {
  return all<HTMLLinkElement>('link[rel=canonical]', within)[0]?.href;
}

/** What the server has by now takes the place of what is shown, if it is another version. */
async function refresh(): Promise<void> {
  const answer = await fetch(location.href, { cache: 'no-cache' });
  if (!answer.ok) return;
  // Its styles are not applied, and a policy would complain of those that are not this page's.
  const text = (await answer.text()).replace(/<(style)[\s\S]*?<\/\1>/g, '');
  const fresh = new DOMParser().parseFromString(text, 'text/html');
  const next = fresh.documentElement;
  // Another page at this address, as before a gate, is none of ours.
  if (versionOf(fresh) === version || canonicalOf(fresh) !== canonicalOf()) return;
  version = versionOf(fresh);
  const folded = [...all<HTMLDetailsElement>('details')].map((one) => ({ find: counterpart('details', one), one }));
  const chosen = [...all('input:checked')].map(({ id }) => id);
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
  for (const part of ['link[rel=icon]', '#state', '#title', '#stale', '#body', 'footer']) {
    const [from] = all(part, fresh);
    const [to] = all(part);
    if (!to) continue;
    // The region stays the same element, so that what is new in it is read out.
    if (from && part === '#state') to.replaceChildren(...from.childNodes);
    else if (from) to.replaceWith(from);
    else if (part === '#stale') to.remove();
  }
  for (const { find, one } of folded) {
    const found = find();
    if (found) found.open = one.open;
  }
  for (const input of all<HTMLInputElement>('input')) input.checked ||= chosen.includes(input.id);
  const there = reading?.();
  if (there) scrollBy({ top: there.getBoundingClientRect().top - place, behavior: 'instant' });
  focused?.()?.focus({ preventScroll: true });
  ready();
}

function ready(): void {
  times();
  tick();
  age();
  for (const button of all<HTMLButtonElement>('button[data-copied]')) {
    button.onclick = async () => {
      await navigator.clipboard.writeText(button.previousElementSibling?.textContent ?? '');
      button.textContent = button.dataset['copied'] ?? '';
    };
  }
}

/** The release that was served a minute ago, and the one that is known to be shown. */
let seen: number | undefined;
let shown: number | undefined;

/** Asks what is new, and for the page itself only where its release is another one. */
async function turn(): Promise<void> {
  if (document.hidden || !root.dataset['staleAfter']) return;
  const release = (await askNow().catch(() => null))?.release;
  if (release === undefined || release !== shown) {
    await refresh();
    // A cache in front may still have had the page before; a minute later it has not.
    shown = release === seen ? release : undefined;
    seen = release;
  }
}

ready();
// Whatever the network does: a copy that nobody renews has to say so.
setInterval(() => {
  tick();
  age();
}, 10_000);
if (root.dataset['staleAfter']) {
  const ask = () => void turn().catch(() => {});
  askNow().catch(() => {});
  setInterval(ask, 60_000);
  document.addEventListener('visibilitychange', ask);
}

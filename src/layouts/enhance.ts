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

/** A group by its name, whatever its state; other details by their text. */
function detailsName(details: HTMLDetailsElement): string | undefined {
  return (details.querySelector('h3') ?? details.firstElementChild)?.textContent;
}

const FOCUSABLE = 'a,input,select,summary,button,.cells';
/** What stays what it is from one version to the next, of which there is always some in sight. */
const READ = '#body :is(h2,h3,h4,[id])';

/** By what an element is known again in another version of the page. */
function nameOf(element: Element): string {
  return element.id || element.localName + (element.ariaLabel ?? element.textContent);
}

/** Remembers an element among those of a kind; its counterpart is looked for in what is shown by then. */
function counterpart(selector: string, element: Element): () => HTMLElement | undefined {
  const name = nameOf(element);
  const same = () => [...all<HTMLElement>(selector)].filter((one) => nameOf(one) === name);
  const at = (same() as Element[]).indexOf(element);
  return () => same()[at];
}

/** What the server has by now takes the place of what is shown, if it is another version. */
async function refresh(): Promise<void> {
  const answer = await fetch(location.href, { cache: 'no-cache' });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const next = fresh.documentElement;
  if (!next.dataset['staleAfter'] || next.dataset['staleAfter'] === root.dataset['staleAfter']) return;
  const isOpen = new Map([...all<HTMLDetailsElement>('details')].map((one) => [detailsName(one), one.open]));
  const chosen = [...all('input:checked')].map(({ id }) => id);
  const active = document.activeElement;
  const focused = active?.matches(FOCUSABLE) ? counterpart(FOCUSABLE, active) : undefined;
  // What is read stays where it is, whatever comes above; at the top what is new is to be seen.
  const read = scrollY > 0 ? [...all(READ)].find((one) => one.getBoundingClientRect().top >= 0) : undefined;
  const place = read?.getBoundingClientRect().top ?? 0;
  const reading = read && counterpart(READ, read);
  root.className = next.className;
  root.dataset['staleAfter'] = next.dataset['staleAfter'];
  document.title = fresh.title;
  for (const part of ['link[rel=icon]', '#state', '#stale', '#body', 'footer']) {
    const [from] = all(part, fresh);
    const [to] = all(part);
    if (!from || !to) continue;
    // The region stays the same element, so that what is new in it is read out.
    if (part === '#state') to.replaceChildren(...from.childNodes);
    else to.replaceWith(from);
  }
  for (const one of all<HTMLDetailsElement>('details')) one.open = isOpen.get(detailsName(one)) ?? one.open;
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
  if (document.hidden) return;
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

/**
 * Progressive enhancement for those who have script: their own time, when the page was checked, how long things have lasted, a
 * warning on an old copy, the new state without loading anew, and copying. The page says everything without it.
 */

import { writeDuration } from '../views/text/times.ts';
import { all, refresh, renew, root } from './refresh.ts';

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
/** Somebody was asked that. */
let isAsked = false;

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
    checked.classList.toggle('alone', isAsked && checkedAt === null);
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
    const text = (open.dataset['before'] ?? '') + writeDuration(length, now - from);
    if (open.textContent !== text) open.textContent = text;
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
  try {
    const answer = await fetch(place.dataset['now'], { cache: 'no-cache' });
    if (!answer.ok) {
      // A body that nobody reads keeps its connection.
      await answer.body?.cancel();
      return null;
    }
    const now: Now = await answer.json();
    if (now.checkedAt !== null) checkedAt = Date.parse(now.checkedAt);
    return now;
  } finally {
    isAsked = true;
    tick();
  }
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
  if (renew() || document.hidden || !root.dataset['staleAfter']) return;
  const release = (await askNow().catch(() => null))?.release;
  if (release === undefined || release !== shown) {
    await refresh();
    // A cache in front may still have had the page before; a minute later it has not.
    shown = release === seen ? release : undefined;
    seen = release;
  }
}

ready();
document.addEventListener('pharos:refresh', ready);
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

/**
 * Progressive enhancement for those who have script: their own time in tooltips, when the page was checked, and the new state
 * without loading anew. The page says everything without it.
 */

import { all, refresh, renew, root } from './refresh.ts';

const local = new Intl.DateTimeFormat(root.lang, { dateStyle: 'full', timeStyle: 'long' });
const relative = new Intl.RelativeTimeFormat(root.lang, { numeric: 'auto' });

/** What the server says of the present: see `views/json/state-json.ts`. */
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

/** When the page was checked. */
function tick(): void {
  for (const checked of all<HTMLElement>('[data-checked]')) {
    checked.classList.toggle('alone', isAsked && checkedAt === null);
    if (checkedAt === null) continue;
    // A clock that is behind ours makes it no later than now.
    const said = ago(Math.min(0, checkedAt - Date.now()));
    // Shorter than what stood here: its room stays, so that nothing below moves.
    const line = checked.parentElement;
    if (line && !line.style.minHeight) line.style.minHeight = `${line.offsetHeight}px`;
    checked.textContent = checked.dataset['checked']?.replace('{ago}', said) ?? '';
  }
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
setInterval(tick, 10_000);
if (root.dataset['staleAfter']) {
  const ask = () => void turn().catch(() => {});
  askNow().catch(() => {});
  setInterval(ask, 60_000);
  document.addEventListener('visibilitychange', ask);
}

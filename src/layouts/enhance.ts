/**
 * Progressive enhancement for those who have script: their own time, how long ago, a warning on an old copy, the new state without
 * loading anew, and copying. The page says everything without it. Kept below 2 kB.
 */

const root = document.documentElement;
const all = <E extends Element>(selector: string, within: ParentNode = document) =>
  within.querySelectorAll<E>(selector);

const local = new Intl.DateTimeFormat(root.lang, { dateStyle: 'full', timeStyle: 'long' });
const relative = new Intl.RelativeTimeFormat(root.lang, { numeric: 'auto' });

function ago(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return Math.abs(minutes) < 60
    ? relative.format(minutes, 'minute')
    : relative.format(Math.round(minutes / 60), 'hour');
}

/** The visitor's time in every tooltip, and on the page's own age how long ago that is. */
function times(): void {
  for (const time of all<HTMLTimeElement>('time')) {
    const at = new Date(time.dateTime);
    time.title = local.format(at);
    const since = +at - Date.now();
    if (time.closest('.as-of') && Math.abs(since) < 172_800_000) {
      time.dataset['text'] ??= time.textContent;
      time.textContent = `${time.dataset['text']} (${ago(since)})`;
    }
  }
}

/** Nothing on an old copy is shown as working. */
function age(): void {
  if (!(Date.now() > Number(root.dataset['staleAfter']))) return;
  root.classList.add('is-stale');
  for (const warning of all<HTMLElement>('#stale')) warning.hidden = false;
}

/** A group by its name, whatever its state; other details by their text. */
function detailsName(details: HTMLDetailsElement): string | undefined {
  return (details.querySelector('h3') ?? details.firstElementChild)?.textContent;
}

/** What the server has by now takes the place of what is shown, if it is another version. */
async function refresh(): Promise<void> {
  if (document.hidden) return;
  const answer = await fetch(location.href, { cache: 'no-cache' });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const next = fresh.documentElement;
  if (!next.dataset['staleAfter'] || next.dataset['staleAfter'] === root.dataset['staleAfter']) return;
  const isOpen = new Map([...all<HTMLDetailsElement>('details')].map((one) => [detailsName(one), one.open]));
  const focusable = 'a,input,summary,button';
  const focused = [...all(focusable)].indexOf(document.activeElement as Element);
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
  if (focused >= 0) all<HTMLElement>(focusable)[focused]?.focus({ preventScroll: true });
  ready();
}

function ready(): void {
  times();
  age();
  for (const button of all<HTMLButtonElement>('button[data-copied]')) {
    button.hidden = false;
    button.onclick = async () => {
      await navigator.clipboard.writeText(button.previousElementSibling?.textContent ?? '');
      button.textContent = button.dataset['copied'] ?? '';
    };
  }
}

ready();
if (root.dataset['staleAfter']) {
  const turn = () =>
    refresh()
      .catch(() => {})
      .finally(() => {
        times();
        age();
      });
  setInterval(turn, 60_000);
  document.addEventListener('visibilitychange', turn);
}

/**
 * What a page cannot do without, for those with script, before it is painted: the theme and the time zone that they choose,
 * remembered for all pages of the site, how long things have lasted, a warning on an old copy, and buttons that copy.
 */

import { TIME_WAYS, writeDuration } from '../views/text/times.ts';

const root = document.documentElement;
const [themes, zones] = ['theme', 'zone'].map((id) => document.getElementById(id) as HTMLSelectElement | null);

/** What was chosen. A browser that keeps nothing for us forgets it with the page. */
const kept = {
  get(name: string): string | null {
    try {
      return localStorage.getItem(`pharos:${name}`);
    } catch {
      return null;
    }
  },
  set(name: string, value: string): void {
    try {
      localStorage.setItem(`pharos:${name}`, value);
    } catch {}
  },
};

if (themes) {
  // What was chosen before is in place since the head was read (`HEAD_SCRIPT`).
  themes.value = root.dataset['theme'] ?? themes.value;
  themes.onchange = () => {
    kept.set('theme', themes.value);
    root.dataset['theme'] = themes.value;
  };
}

/** The way in which each time was written in the zone of the page, found once, as an index. */
const ways = new WeakMap<HTMLTimeElement, number>();

/** All ways to write an instant in a zone: as in `TIME_WAYS`, and the same with the zone. */
function writersIn(locale: string | undefined, timeZone: string | undefined): ((at: Date) => string)[] {
  const both = [...TIME_WAYS, ...TIME_WAYS.map((way) => ({ ...way, timeZoneName: 'short' }) as const)];
  return both.map((way) => {
    const { format } = new Intl.DateTimeFormat(locale, { ...way, timeZone });
    return format;
  });
}

/** Writes every instant in the zone that is chosen, in the way in which it is written. */
function writeTimes(select: HTMLSelectElement): void {
  const { locale, text = '' } = select.dataset;
  const timeZone = select.value || undefined;
  const [before, after] = [select.options[0]?.value, timeZone].map((zone) => writersIn(locale, zone));
  const dayAt = (at: Date) => at.toLocaleDateString(locale, { timeZone });
  for (const time of document.querySelectorAll('time')) {
    const at = new Date(time.dateTime);
    const way = ways.get(time) ?? before?.findIndex((write) => write(at) === time.textContent) ?? -1;
    if (way < 0) continue;
    ways.set(time, way);
    // The end of what ended on the day it began may be on another day here.
    const start = way % 3 === 2 && time.parentElement?.querySelector('time');
    const isNextDay = start && dayAt(new Date(start.dateTime)) !== dayAt(at);
    const text = after?.[isNextDay ? way - 2 : way]?.(at) ?? '';
    // What is written again is read out again.
    if (time.textContent !== text) time.textContent = text;
  }
  const zone = timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const note = document.getElementById('times-in');
  if (note) note.textContent = text.replace('{zone}', zone.replaceAll('_', ' '));
}

if (zones) {
  if (kept.get('zone') !== 'page') {
    zones.value = '';
    writeTimes(zones);
  }
  zones.onchange = () => {
    kept.set('zone', zones.value === '' ? 'own' : 'page');
    writeTimes(zones);
  };
}

/** Who chose a language, or to stay with this one, is offered none any more (`OFFER_SCRIPT`). */
for (const link of document.querySelectorAll<HTMLAnchorElement>('#languages a, .offer a'))
  link.onclick = () => kept.set('language', link.hreflang);
const stay = document.querySelector<HTMLElement>('.offer button');
if (stay)
  stay.onclick = () => {
    kept.set('language', root.lang);
    stay.parentElement?.remove();
  };

document.addEventListener('click', async ({ target }) => {
  const element = target as Element;
  for (const menu of document.querySelectorAll<HTMLDetailsElement>('.menu[open]'))
    if (!menu.contains(element)) menu.open = false;
  const button = element.closest<HTMLElement>('button[data-done]');
  if (!button) return;
  const { link, done = '' } = button.dataset;
  const address = new URL(link ?? '', location.href);
  if (link === '') address.hash = '';
  await navigator.clipboard.writeText(
    link === undefined ? (button.previousElementSibling?.textContent ?? '') : address.href,
  );
  button.textContent = done;
});

document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return;
  for (const menu of document.querySelectorAll<HTMLDetailsElement>('.menu[open]')) {
    if (menu.contains(document.activeElement)) menu.querySelector('summary')?.focus();
    menu.open = false;
  }
});

/** Absent in older browsers, which show when things began and not for how long they have lasted. */
const length = Intl.DurationFormat && new Intl.DurationFormat(root.lang, { style: 'short' });

/** What grows older while it is read. Nothing on an old copy is shown as working, whatever the network does. */
function tick(): void {
  const now = Date.now();
  if (now > Number(root.dataset['staleAfter'])) root.classList.add('is-stale');
  for (const open of document.querySelectorAll<HTMLElement>('[data-since]')) {
    const from = Date.parse(open.dataset['since'] ?? '');
    if (!length || !(from < now)) continue;
    const { before = '', after = '' } = open.dataset;
    const text = before + writeDuration(length, now - from) + after;
    if (open.textContent !== text) open.textContent = text;
  }
}

tick();
setInterval(tick, 10_000);

// It puts other times in place of these.
document.addEventListener('pharos:refresh', () => {
  tick();
  if (zones?.value === '') writeTimes(zones);
});

/**
 * What the header offers to those with script: the theme and the time zone that they choose, remembered for all pages of the
 * site, and buttons that copy addresses.
 */

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

/** The ways in which pages write an instant (`views/text/format.ts`). */
const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const date = { month: 'short', day: 'numeric', ...clock } as const;
const WAYS: readonly Intl.DateTimeFormatOptions[] = [
  date,
  { year: 'numeric', ...date },
  clock,
  { year: 'numeric', ...date, timeZoneName: 'short' },
];

/** The way in which each was written in the zone of the page, found once. */
const ways = new WeakMap<HTMLTimeElement, Intl.DateTimeFormatOptions>();

/** Writes every instant in the zone that is chosen, in the way in which it is written. */
function writeTimes(select: HTMLSelectElement): void {
  const { locale, text = '' } = select.dataset;
  const timeZone = select.value || undefined;
  const page = select.options[0]?.value;
  for (const time of document.querySelectorAll('time')) {
    const written = (way: Intl.DateTimeFormatOptions, zone?: string) =>
      new Intl.DateTimeFormat(locale, { ...way, timeZone: zone }).format(new Date(time.dateTime));
    const way = ways.get(time) ?? WAYS.find((one) => written(one, page) === time.textContent);
    if (!way) continue;
    ways.set(time, way);
    const text = written(way, timeZone);
    // What is written again is read out again.
    if (time.textContent !== text) time.textContent = text;
  }
  const zone = timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const note = document.getElementById('times-in');
  if (note) note.textContent = text.replace('{zone}', zone.replaceAll('_', ' '));
}

if (zones) {
  if (kept.get('zone') === 'own') {
    zones.value = '';
    writeTimes(zones);
  }
  zones.onchange = () => {
    kept.set('zone', zones.value === '' ? 'own' : 'page');
    writeTimes(zones);
  };
}

document.addEventListener('click', async ({ target }) => {
  const element = target as Element;
  for (const menu of document.querySelectorAll<HTMLDetailsElement>('.menu[open]'))
    if (!menu.contains(element)) menu.open = false;
  const button = element.closest<HTMLElement>('button[data-link]');
  if (!button) return;
  const { link = '', done = '' } = button.dataset;
  const address = new URL(link, location.href);
  if (link === '') address.hash = '';
  await navigator.clipboard.writeText(address.href);
  button.textContent = done;
});

document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return;
  for (const menu of document.querySelectorAll<HTMLDetailsElement>('.menu[open]')) {
    if (menu.contains(document.activeElement)) menu.querySelector('summary')?.focus();
    menu.open = false;
  }
});

// It puts other times in place of these.
document.addEventListener('pharos:refresh', () => {
  if (zones?.value === '') writeTimes(zones);
});

/**
 * Shows what a day of a bar or of a calendar was, in one pop-over: under the pointer, at a key, and pinned by a tap, with its
 * incidents as links. Without it a bar leads to the page that lists its days. What it reads is packed by `views/days/day-bar.ts`;
 * on a page of many components most of it stands on theirs, and is fetched when somebody asks for it.
 */

import { writeSpans } from '../../views/text/write-spans.ts';

const root = document.documentElement;
const BARS = '.days,.cells';
const date = new Intl.DateTimeFormat(root.lang, { dateStyle: 'full', timeZone: 'UTC' });
const clock = new Intl.DateTimeFormat(root.lang, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZone: 'UTC',
});
const duration = Intl.DurationFormat && new Intl.DurationFormat(root.lang, { style: 'short' });
const DAY_MS = 86_400_000;

/** Below a day, like `writeDuration`: a module that scripts share would be a request of its own. */
function writeLength(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const parts = minutes < 1 ? { seconds: ms / 1_000 } : { hours: Math.floor(minutes / 60), minutes: minutes % 60 };
  const text = duration?.format(parts) ?? '';
  return text.replace(/[,،] /, ' ').replace('hr', 'h').replace('sec', 's');
}

/** The zone of the page, in which its days are, where the visitor reads other times in another. */
function readZone(): string {
  const zones = document.getElementById('zone') as HTMLSelectElement | null;
  const zone = zones?.options[0]?.value;
  const isShown = zone && zones?.value === '' && zone !== new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return isShown ? ` · ${zone.replaceAll('_', ' ')}` : '';
}

/** Half of the width that a target of a finger has at least. */
const REACH_PX = 12;
const COLUMNS = 7;

/** Where the pop-over is. Kept by element and index, so that a page that is refreshed meanwhile harms nothing. */
let bar: HTMLElement | null = null;
let at = 0;
let isPinned = false;
let leaving: ReturnType<typeof setTimeout> | undefined;
let asking: ReturnType<typeof setTimeout> | undefined;

/** A letter a day: packed, or read from the lines of the bar, whose class is the letter of their days. */
function readLetters(element: HTMLElement): string[] {
  const packed = element.dataset['days'];
  if (packed !== undefined)
    return [...packed.replace(/(\D)(\d+)/g, (_, letter: string, count: string) => letter.repeat(Number(count)))];
  const width = element.querySelector('svg')?.viewBox.baseVal.width ?? 0;
  const letters = Array<string>(width).fill('u');
  for (const path of element.querySelectorAll('path:not(.b)'))
    for (const [, from, count] of (path.getAttribute('d') ?? '').matchAll(/M(\d+) [\d.]+h(\d+)/g))
      letters.fill(path.classList[0] ?? 'u', Number(from), Number(from) + Number(count));
  return letters;
}
const lines = (text: string | undefined) => (text ?? '').split('\n').map((line) => line.split('\t'));

/** What the page of its component says of the days of a bar; nothing where that page has other days, or cannot be had. */
async function askForNotes(element: HTMLElement, href: string): Promise<void> {
  const tip = document.getElementById('day');
  const answer = await fetch(href);
  // Its styles are not applied, and a policy would complain of them.
  const text = (await answer.text()).replace(/<(style)[\s\S]*?<\/\1>/g, '');
  const theirs = new DOMParser().parseFromString(text, 'text/html');
  const [days, other] = ['.days', '#day'].map((one) => theirs.querySelector<HTMLElement>(one)?.dataset);
  if (!tip || !days || other?.['until'] !== tip.dataset['until']) return;
  element.dataset['notes'] = days['notes'] ?? '';
  tip.dataset['incidents'] = `${tip.dataset['incidents'] ?? ''}\n${other?.['incidents'] ?? ''}`;
  if (bar === element) show(element, at);
}

/** The line of the day `index`, by the days that it is about. */
function readNote(element: HTMLElement, index: number): string[] | undefined {
  const day = index + Number(element.dataset['from'] ?? 0);
  return lines(element.dataset['notes']).find(([days = '']) => {
    const [from, to = from] = days.split('-');
    return days !== '' && Number(from) <= day && day <= Number(to);
  });
}

/** A day by its distance from the first of a bar; in a calendar it may be in another month. */
function locate(element: HTMLElement, index: number): [HTMLElement, number] {
  const months = [...document.querySelectorAll<HTMLElement>('.cells')].reverse();
  let [month, day] = [element, index];
  for (let step = Math.sign(index); step !== 0; ) {
    const count = readLetters(month).length;
    const next = months[months.indexOf(month) + step];
    if ((day >= 0 && day < count) || !months.includes(month) || !next) break;
    day += step < 0 ? readLetters(next).length : -count;
    month = next;
  }
  return [month, Math.max(0, Math.min(readLetters(month).length - 1, day))];
}

/** The next day in a direction of which there is more to say than that all was well; where there is none, the same day. */
function findTrouble(element: HTMLElement, step: number): [HTMLElement, number] {
  let [month, day] = [element, at];
  for (;;) {
    const [next, index] = locate(month, day + step);
    if (next === month && index === day) return [element, at];
    [month, day] = [next, index];
    if (!/[ou]/.test(readLetters(month)[day] ?? '') || readNote(month, day)) return [month, day];
  }
}

type Place = Readonly<Record<'column' | 'row', number>>;

/** The box of a day in the window. */
function dayBox(element: HTMLElement, index: number): DOMRect {
  const { left, top, width, height } = element.getBoundingClientRect();
  if (element.dataset['column'] === undefined) {
    const step = width / readLetters(element).length;
    const from = root.dir === 'rtl' ? left + width - (index + 1) * step : left + index * step;
    return new DOMRect(from, top, step, height);
  }
  const cell = height / COLUMNS;
  const { column, row } = dayPlace(element, index);
  return new DOMRect(left + column * cell, top + (row + 1) * cell, cell, cell);
}

/** As `cellAt` in `views/days/calendar-paths.ts` has drawn it. */
function dayPlace(element: HTMLElement, index: number): Place {
  const cell = index + Number(element.dataset['column'] ?? 0);
  const column = cell % COLUMNS;
  return { column: root.dir === 'rtl' ? COLUMNS - 1 - column : column, row: Math.floor(cell / COLUMNS) };
}

/** The day at a point; by finger the nearest one within reach of which there is something to say. */
function dayAt(element: HTMLElement, { clientX, clientY, pointerType }: PointerEvent): number {
  const letters = readLetters(element);
  const away = (index: number) => {
    const box = dayBox(element, index);
    const isCalendar = element.dataset['column'] !== undefined;
    return Math.hypot(
      Math.abs(clientX - box.x - box.width / 2),
      isCalendar ? Math.abs(clientY - box.y - box.height / 2) : 0,
    );
  };
  const days = letters.map((letter, index) => ({ letter, index, away: away(index) }));
  days.sort((a, b) => a.away - b.away);
  const [nearest] = days;
  const notable =
    pointerType === 'mouse'
      ? undefined
      : days.find((day) => day.away <= REACH_PX && (day.letter !== 'o' || readNote(element, day.index)));
  return (notable ?? nearest)?.index ?? 0;
}

function show(from: HTMLElement, index: number, pin = isPinned): void {
  const [element, day] = locate(from, index);
  const tip = document.getElementById('day');
  if (!tip?.showPopover) return;
  if (bar !== element) hide();
  clearTimeout(leaving);
  clearTimeout(asking);
  const letters = readLetters(element);
  const { href, notes } = element.dataset;
  // Not of every bar that the pointer only passes.
  if (href && notes === undefined) asking = setTimeout(() => askForNotes(element, href).catch(() => {}), 100);
  bar = element;
  at = day;
  isPinned = pin;
  tip.toggleAttribute('data-pinned', pin);
  fill(tip, element, letters[at] ?? 'u');
  mark(element, letters.length);
  // Beside the bar in the document, so that the tab key goes from one to the other.
  if (tip.previousElementSibling !== element) element.after(tip);
  tip.showPopover();
  place(tip, dayBox(element, at));
}

function fill(tip: HTMLElement, element: HTMLElement, letter: string): void {
  const [when, was, parts, list] = [...tip.children] as HTMLElement[];
  const wordOf = (letter: string) => lines(tip.dataset['words']).find(([one]) => one === letter.toLowerCase()) ?? [];
  const [, state = 'unknown', word = ''] = wordOf(letter);
  const [, spans = '', slugs = ''] = readNote(element, at) ?? [];
  const text = writeSpans(spans, letter, {
    stateWord: (one) => wordOf(one)[2] ?? '',
    clock,
    duration: writeLength,
    ongoing: tip.dataset['ongoing'] ?? '',
  });
  const last = Date.parse(element.dataset['until'] ?? tip.dataset['until'] ?? '');
  const day = date.format(last - (readLetters(element).length - 1 - at) * DAY_MS) + readZone();
  const titles = new Map(lines(tip.dataset['incidents']).map(([slug = '', ...said]) => [slug, said]));
  if (!when || !was || !parts || !list) return;
  when.textContent = day;
  was.className = `was s-${state}`;
  was.querySelector('use')?.setAttribute('href', `#i-${state}`);
  (was.lastElementChild as HTMLElement).textContent = word;
  parts.textContent = text;
  const links = slugs
    .split(' ')
    .filter(Boolean)
    .map((slug) => {
      const href = `${tip.dataset['base']}${slug}/`;
      const link = Object.assign(document.createElement('a'), { href, dir: 'auto' });
      const said = titles.get(slug) ?? [slug];
      // Pieces of a title, each followed by its language where that is not the page's.
      for (let piece = 0; piece < said.length; piece += 2) {
        const [textContent = '', lang = ''] = said.slice(piece);
        link.append(lang ? Object.assign(document.createElement('span'), { textContent, lang }) : textContent);
      }
      return link;
    });
  list.replaceChildren(
    ...links.map((link) => {
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
  );
  element.setAttribute('aria-valuenow', String(at + 1));
  const names = links.map((link) => link.textContent);
  element.setAttribute('aria-valuetext', [`${day}: ${word}`, text, ...names].filter(Boolean).join('. '));
}

function mark(element: HTMLElement, count: number): void {
  const { column, row } = dayPlace(element, at);
  element.dataset['open'] = '';
  for (const [name, value] of Object.entries({ at, count, column, row }))
    element.style.setProperty(`--${name}`, String(value));
}

/** Below its day, or above where there is no room, and never outside the window. */
function place(tip: HTMLElement, day: DOMRect): void {
  const gap = 6;
  const { offsetWidth: width, offsetHeight: height } = tip;
  const left = day.x + day.width / 2 - width / 2;
  const isAbove = day.bottom + gap + height > innerHeight && day.top - gap - height >= 0;
  const x = Math.max(gap, Math.min(root.clientWidth - width - gap, left));
  tip.style.left = `${x + scrollX}px`;
  tip.style.top = `${(isAbove ? day.top - gap - height : day.bottom + gap) + scrollY}px`;
}

function hide(): void {
  clearTimeout(leaving);
  clearTimeout(asking);
  bar?.removeAttribute('data-open');
  bar = null;
  isPinned = false;
  const tip = document.getElementById('day');
  if (tip?.matches(':popover-open')) tip.hidePopover();
}

const findBar = (target: EventTarget | null) => (target as Element | null)?.closest?.<HTMLElement>(BARS) ?? null;
const isTip = (target: EventTarget | null) => (target as Element | null)?.closest?.('#day') != null;

document.addEventListener('pointermove', (event) => {
  if (event.pointerType === 'touch' || isPinned) return;
  const over = findBar(event.target);
  if (over) show(over, dayAt(over, event));
  else if (isTip(event.target)) clearTimeout(leaving);
  else if (bar && bar !== document.activeElement) {
    clearTimeout(leaving);
    // Time to move from a day to the links about it.
    leaving = setTimeout(hide, 250);
  }
});

document.addEventListener('click', (event) => {
  const over = findBar(event.target);
  const { step, trouble } = (event.target as Element).closest?.<HTMLElement>('#day [data-step]')?.dataset ?? {};
  if (over) show(over, event.detail === 0 ? at : dayAt(over, event as PointerEvent), true);
  else if (bar && step === '0') close();
  else if (bar && step)
    show(...(trouble === undefined ? locate(bar, at + Number(step)) : findTrouble(bar, Number(step))), true);
  else if (!isTip(event.target)) hide();
});

/** Back to the bar, where the keyboard was. */
function close(): void {
  const from = bar;
  if (isTip(document.activeElement)) from?.focus();
  hide();
}

document.addEventListener('focusin', ({ target }) => {
  const over = findBar(target);
  if (over && over !== bar && over.matches(':focus-visible')) show(over, readLetters(over).length - 1, false);
  else if (!over && !isTip(target) && bar) hide();
});

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && bar) return close();
  const over = findBar(event.target);
  if (!over || event.altKey || event.ctrlKey || event.metaKey) return;
  const count = readLetters(over).length;
  const forward = root.dir === 'rtl' ? -1 : 1;
  const week = over.dataset['column'] === undefined ? -1 : COLUMNS;
  const steps: Record<string, number> = {
    ArrowLeft: -forward,
    ArrowRight: forward,
    ArrowUp: -week,
    ArrowDown: week,
    PageUp: 7,
    PageDown: -7,
    Home: -at,
    End: count - 1 - at,
  };
  const step = steps[event.key];
  const isEnter = event.key === 'Enter' || event.key === ' ';
  if (step === undefined && !isEnter) return;
  event.preventDefault();
  show(over, (bar === over ? at : count - 1) + (step ?? 0), isPinned || isEnter);
  // In a calendar the day may be in another month.
  if (bar && bar !== over) bar.focus();
  if (isEnter) document.querySelector<HTMLElement>('#day :is(a, button)')?.focus();
});

addEventListener('resize', hide);

/** With script a bar is a slider over its days and leads nowhere by itself. */
function upgrade(): void {
  const isBrief = document.querySelector('#day[data-brief]') !== null;
  for (const element of document.querySelectorAll<HTMLElement>(':is(.days,.cells):not([role=slider])')) {
    const count = String(readLetters(element).length);
    if (isBrief) element.dataset['href'] = element.getAttribute('href') ?? '';
    element.removeAttribute('href');
    element.tabIndex = 0;
    for (const [name, value] of [
      ['role', 'slider'],
      ['aria-valuemin', '1'],
      ['aria-valuemax', count],
      ['aria-valuenow', count],
      ['aria-valuetext', element.getAttribute('aria-label') ?? ''],
    ] as const)
      element.setAttribute(name, value);
  }
}

/** The day that is shown is shown again, with what is said of it by now, at the bar that took the place of its own. */
function takeUp(): void {
  upgrade();
  const [before, day, pin] = [bar, at, isPinned];
  if (!before || before.isConnected) return;
  hide();
  const like = (within: ParentNode) =>
    [...within.querySelectorAll<HTMLElement>(BARS)].filter((one) => one.ariaLabel === before.ariaLabel);
  const after = like(document)[like(before.getRootNode() as Element).indexOf(before)];
  if (!after) return;
  show(after, day, pin);
  // What is read is yet to be put back where it was.
  queueMicrotask(() => bar && show(bar, at));
}

if ('popover' in HTMLElement.prototype) {
  upgrade();
  document.addEventListener('pharos:refresh', takeUp);
}

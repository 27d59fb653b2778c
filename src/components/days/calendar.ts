/** Shows the days of the component that is chosen, and goes on doing so in what a refresh brings. */

import { calendarPaths } from '../../views/days/calendar-paths.ts';

let wanted = '';

function showSubject(): void {
  const select = document.querySelector<HTMLSelectElement>('#subject');
  const option = select && [...select.options].find(({ text }) => text === wanted);
  if (!option) return;
  select.value = option.value;
  const letters = (option.dataset['days'] ?? '').replace(/(\D)(\d+)/g, (_, letter: string, count: string) =>
    letter.repeat(Number(count)),
  );
  for (const month of document.querySelectorAll<HTMLElement>('.cells')) {
    const from = Number(month.dataset['from']);
    const days = letters.slice(from, from + Number(month.getAttribute('aria-valuemax')));
    month.dataset['days'] = days.replace(/(.)\1*/g, (run, letter) => letter + run.length);
    month.dataset['notes'] = option.dataset['notes'] ?? '';
    for (const path of month.querySelectorAll('path')) path.remove();
    const isMirrored = document.documentElement.dir === 'rtl';
    for (const { letter, d } of calendarPaths(days, Number(month.dataset['column']), isMirrored)) {
      const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
      path.setAttribute('class', letter);
      path.setAttribute('d', d);
      month.querySelector('svg')?.append(path);
    }
  }
}

document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLSelectElement) || target.id !== 'subject') return;
  wanted = target.selectedOptions[0]?.text ?? '';
  showSubject();
});
document.addEventListener('pharos:refresh', showSubject);

/**
 * For a status page: the state stays in sight once its banner is not, folded groups are remembered, and of a long list the
 * components are shown whose name, description or group has what was typed.
 */

const root = document.documentElement;
const all = <E extends Element>(selector: string, within: ParentNode = document) => [
  ...within.querySelectorAll<E>(selector),
];

const banner = document.getElementById('state');
if (banner)
  new IntersectionObserver(([entry]) => root.toggleAttribute('data-past', entry?.isIntersecting === false)).observe(
    banner,
  );

/** Which groups the visitor has opened or folded, by name. A browser that keeps nothing for us forgets it. */
const key = `pharos:groups:${location.pathname}`;
const groupName = (group: Element) => group.querySelector('h3')?.textContent?.trim() ?? '';

function remembered(): Record<string, boolean> {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '{}');
  } catch {
    return {};
  }
}

function openRemembered(): void {
  const open = remembered();
  for (const group of all<HTMLDetailsElement>('.group')) group.open = open[groupName(group)] ?? group.open;
}

document.addEventListener('click', ({ target }) => {
  const group = (target as Element).closest('.group > summary')?.parentElement as HTMLDetailsElement | undefined;
  if (!group || typed) return;
  try {
    // The group is toggled after its click.
    localStorage.setItem(key, JSON.stringify({ ...remembered(), [groupName(group)]: !group.open }));
  } catch {}
});

/** What is typed in the filter. Kept here, since a refresh puts another box in its place, and for who comes back to the page. */
let typed = '';
/** Groups as they were before. */
let isOpen = new Map<string, boolean>();
const readOpen = () => new Map(all<HTMLDetailsElement>('.group').map((group) => [groupName(group), group.open]));

function filter(): void {
  const wanted = typed.trim().toLocaleLowerCase(root.lang);
  const matches = (element: Element) => (element.textContent ?? '').toLocaleLowerCase(root.lang).includes(wanted);
  let found = 0;
  for (const row of all<HTMLElement>('.row')) {
    const group = row.closest<HTMLElement>('.group');
    const isWanted =
      matches(row.querySelector('.name') ?? row) || (group !== null && matches(group.querySelector('h3') ?? row));
    row.hidden = !isWanted;
    if (isWanted && !row.closest('.failing')) found += 1;
  }
  for (const group of all<HTMLDetailsElement>('.group')) {
    group.hidden = group.querySelector('.row:not([hidden])') === null;
    group.open = wanted !== '' || (isOpen.get(groupName(group)) ?? group.open);
  }
  for (const failing of all<HTMLElement>('.failing')) failing.hidden = wanted !== '';
  for (const output of all<HTMLOutputElement>('.filter output'))
    output.value = wanted ? (output.dataset['count'] ?? '').replace('{n}', String(found)) : '';
}

document.addEventListener('input', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.id !== 'filter') return;
  // What is opened to show what was found is folded again afterwards.
  if (!typed) isOpen = readOpen();
  typed = target.value;
  history.replaceState({ filter: typed }, '');
  filter();
});

function filterAgain(): void {
  const [box] = all<HTMLInputElement>('#filter');
  if (!box || !typed) return;
  box.value = typed;
  filter();
}

openRemembered();
isOpen = readOpen();
typed = history.state?.filter ?? '';
filterAgain();
document.addEventListener('pharos:refresh', filterAgain);

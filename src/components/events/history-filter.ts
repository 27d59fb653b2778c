/** Shows those events of a month that are about a component and of an impact, as the address says too. */

const selects = [...document.querySelectorAll<HTMLSelectElement>('.narrow select')];
const address = new URL(location.href);

function narrow(): void {
  const wanted = new Map(selects.map(({ name, value }) => [name, value]));
  const component = wanted.get('component') ?? '';
  const impact = wanted.get('impact') ?? '';
  for (const entry of document.querySelectorAll<HTMLElement>('.entry')) {
    const { about = '', impact: own = '' } = entry.dataset;
    entry.hidden = (component !== '' && !about.split(' ').includes(component)) || (impact !== '' && own !== impact);
  }
  for (const day of document.querySelectorAll<HTMLElement>('.day'))
    day.hidden = day.querySelector('.entry:not([hidden])') === null;
}

for (const select of selects) {
  const wanted = address.searchParams.get(select.name);
  if ([...select.options].some(({ value }) => value === wanted)) select.value = wanted ?? '';
  select.addEventListener('change', () => {
    if (select.value) address.searchParams.set(select.name, select.value);
    else address.searchParams.delete(select.name);
    history.replaceState(null, '', address);
    narrow();
  });
}
narrow();

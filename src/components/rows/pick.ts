/** In lists of components to choose from: finds them by name, and chooses all of a group at once. */

type Control = HTMLInputElement | HTMLSelectElement;
const isBox = (control: Control): control is HTMLInputElement => control instanceof HTMLInputElement;
const controlsIn = (fieldset: Element) => [...fieldset.querySelectorAll<Control>('[name]:not([data-whole])')];

/** The choice for the whole group says what all of them have in common. */
function showWhole(fieldset: Element): void {
  const whole = fieldset.querySelector<Control>('[data-whole]');
  if (!whole) return;
  const controls = controlsIn(fieldset);
  if (isBox(whole)) {
    const chosen = controls.filter((one) => isBox(one) && one.checked).length;
    whole.checked = chosen === controls.length;
    whole.indeterminate = chosen > 0 && !whole.checked;
    return;
  }
  const values = new Set(controls.map(({ value }) => value));
  whole.value = values.size === 1 ? (controls[0]?.value ?? '') : '';
}

function chooseAll(whole: Control, fieldset: Element): void {
  if (!isBox(whole) && whole.value === '') return;
  for (const control of controlsIn(fieldset)) {
    if (isBox(control)) control.checked = (whole as HTMLInputElement).checked;
    else control.value = whole.value;
  }
}

function find(picker: Element, typed: string): void {
  const matches = (element: Element | null) => element?.textContent?.toLocaleLowerCase().includes(typed) ?? false;
  for (const part of picker.querySelectorAll<HTMLElement>('.part')) {
    const isPart = matches(part.querySelector('summary'));
    for (const row of part.querySelectorAll<HTMLElement>('label'))
      row.hidden = typed !== '' && !isPart && !(matches(row.querySelector('bdi')) && !row.matches('.whole'));
    part.hidden = !part.querySelector('label:not([hidden])');
    if (part instanceof HTMLDetailsElement) {
      part.dataset['open'] ??= String(part.open);
      part.open = typed !== '' || part.dataset['open'] === 'true';
      if (typed === '') delete part.dataset['open'];
    }
  }
}

for (const picker of document.querySelectorAll('.picker')) {
  for (const fieldset of picker.querySelectorAll('fieldset')) showWhole(fieldset);
  picker.addEventListener('change', ({ target }) => {
    const control = target as Control;
    const fieldset = control.closest('fieldset');
    if (!fieldset || fieldset === picker) return;
    if (control.dataset['whole'] !== undefined) chooseAll(control, fieldset);
    showWhole(fieldset);
  });
  const label = picker.querySelector<HTMLElement>('.find');
  const search = label?.querySelector('input');
  if (!label || !search) continue;
  label.hidden = false;
  search.addEventListener('input', () => find(picker, search.value.trim().toLocaleLowerCase()));
  // What is typed here names no field of the form, and Enter in it is not its preview.
  search.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') event.preventDefault();
  });
}

/** Shows the buttons that copy the address of an event or of one of its updates, and makes them do it. */

function show(): void {
  for (const button of document.querySelectorAll<HTMLElement>('button[data-link]')) button.hidden = false;
}

document.addEventListener('click', async ({ target }) => {
  const button = (target as Element).closest<HTMLElement>('button[data-link]');
  if (!button) return;
  const { link = '', done = '' } = button.dataset;
  const address = new URL(location.href);
  address.hash = link;
  await navigator.clipboard.writeText(link ? address.href : address.href.replace(/#$/, ''));
  button.textContent = done;
});

show();
const main = document.getElementById('main');
if (main) new MutationObserver(show).observe(main, { childList: true });

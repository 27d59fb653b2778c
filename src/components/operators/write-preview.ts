/** Shows the preview without loading the page anew, so that nothing jumps. What is refused is sent as without script. */

const form = document.querySelector<HTMLFormElement>('form#write');
let isPlain = false;

form?.addEventListener('submit', async (event) => {
  const button = event.submitter as HTMLButtonElement | null;
  if (isPlain || button?.value !== 'preview') return;
  event.preventDefault();
  const fresh = await fetch(form.action, { method: 'POST', body: new URLSearchParams(fieldsOf(form, button)) })
    .then(async (answer) => (answer.ok ? answer.text() : ''))
    .then((html) => new DOMParser().parseFromString(html, 'text/html').getElementById('preview'))
    .catch(() => null);
  if (fresh) return document.getElementById('preview')?.replaceChildren(...fresh.childNodes);
  isPlain = true;
  form.requestSubmit(button);
});

function fieldsOf(from: HTMLFormElement, button: HTMLButtonElement): [string, string][] {
  return [...new FormData(from, button)].map(([name, value]) => [name, String(value)]);
}

/** Tells the page around the frame how high this one is, and shows an old copy as unknown. */

const root = document.documentElement;

function tell(): void {
  parent.postMessage({ type: 'pharos:size', height: document.body.scrollHeight }, '*');
}

function age(): void {
  if (!(Date.now() > Number(root.dataset['staleAfter']))) return;
  root.classList.add('is-stale');
  document.querySelector('#stale')?.removeAttribute('hidden');
  tell();
}

addEventListener('message', ({ data }) => data?.type === 'pharos:size?' && tell());
new ResizeObserver(tell).observe(document.body);
setInterval(age, 30_000);
age();

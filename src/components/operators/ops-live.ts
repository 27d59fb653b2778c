/** Keeps the operators' page up to date while it is open. Without it the page is as of when it was loaded. */

let isLoading = false;
let isDue = false;

/** What the server shows by now takes the place of what is shown; a section that somebody is in stays as it is. */
async function refresh(): Promise<void> {
  const answer = await fetch(location.pathname, { cache: 'no-store' });
  // The session has ended.
  if (answer.status === 401) return location.reload();
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  document.documentElement.className = fresh.documentElement.className;
  for (const from of fresh.querySelectorAll('[id^="ops-"]')) {
    const to = document.getElementById(from.id);
    if (to !== null && !to.contains(document.activeElement) && to.innerHTML !== from.innerHTML)
      to.replaceChildren(...from.childNodes);
  }
}

async function turn(): Promise<void> {
  isDue = true;
  if (isLoading) return;
  isLoading = true;
  while (isDue) {
    isDue = false;
    await refresh().catch(() => undefined);
  }
  isLoading = false;
}

new EventSource('ops/events').addEventListener('change', turn);

// What a button did is said once, and for as long as it is news.
const NOTICE_MS = 10_000;
if (location.search !== '') history.replaceState(null, '', location.pathname);
setTimeout(() => document.getElementById('notice')?.remove(), NOTICE_MS);

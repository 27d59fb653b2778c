// Gives every embedded status page the height of its content. The frames say how high they are; this only listens.
// Works for iframes that are there already and for those that come later.
(() => {
  const ASK = 'pharos:size?';
  addEventListener('message', ({ data, origin, source }) => {
    if (data?.type !== 'pharos:size' || !Number.isFinite(data.height)) return;
    for (const frame of document.querySelectorAll('iframe')) {
      if (frame.contentWindow !== source || new URL(frame.src, location.href).origin !== origin) continue;
      frame.style.height = `${Math.min(Math.max(Math.ceil(data.height), 48), 10000)}px`;
    }
  });
  for (const frame of document.querySelectorAll('iframe[src*="/embed/"]')) {
    frame.contentWindow?.postMessage({ type: ASK }, new URL(frame.src, location.href).origin);
  }
})();

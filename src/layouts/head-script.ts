/**
 * What has to be so before anything is painted: the theme that a visitor chose, so that the other one never flashes, and a copy
 * that is too old by now, which shows nothing as working and makes room for its warning. It stands in the head as a script of
 * its own, since those of the build run after the document; `layouts/header.ts` writes what it reads.
 */
export const HEAD_SCRIPT =
  'let{dataset:d,classList:c}=document.documentElement;Date.now()>d.staleAfter&&c.add("is-stale");try{let t=localStorage["pharos:theme"];/^(system|light|dark)$/.test(t)&&(d.theme=t)}catch{}';

/**
 * Shows the visitor's own language as soon as the header was read, before anything below it is painted, and so without moving
 * it: the first of the browser's languages that the page has, unless this is it, or one was chosen before.
 */
export const OFFER_SCRIPT =
  '{let d=document,a=[...d.querySelectorAll("#languages a")],o=d.querySelector(".offer"),k;try{k=localStorage["pharos:language"]}catch{}let w=navigator.languages.map(t=>a.find(x=>x.hreflang===t)??a.find(x=>x.hreflang.split("-")[0]===t.split("-")[0].toLowerCase())).find(x=>x);if(w&&!w.ariaCurrent&&!k){let x=o.firstElementChild;x.href=w.href;x.lang=x.hreflang=w.lang;x.textContent=w.dataset.offer;o.hidden=!1}}';

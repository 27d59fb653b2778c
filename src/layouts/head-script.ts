/**
 * What has to be so before anything is painted: the theme that a visitor chose, so that the other one never flashes, and a copy
 * that is too old by now, which shows nothing as working and makes room for its warning. It stands in the head as a script of
 * its own, since those of the build run after the document; `layouts/header.ts` writes what it reads.
 */
export const HEAD_SCRIPT =
  'let{dataset:d,classList:c}=document.documentElement;Date.now()>d.staleAfter&&c.add("is-stale");try{let t=localStorage["pharos:theme"];/^(system|light|dark)$/.test(t)&&(d.theme=t)}catch{}';

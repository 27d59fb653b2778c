/**
 * The check of an operator's own style sheet. It ends up inside `<style>` in every page, and nothing in it may make a browser
 * ask anybody: the policy of the pages would refuse that, and here it is told before.
 */

/** It is part of every page, and a page is read in the worst hour. */
export const STYLESHEET_BYTES_MAX = 16_384;

interface StylesheetFault {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** What loads something whatever is written in its brackets. */
const LOADS =
  /@(?:import|font-face|namespace|charset)\b|\b(?:src|image|image-set|-webkit-image-set|cross-fade|element)\(/i;
const WHY: Readonly<Record<string, string>> = {
  '@import': 'put its rules here instead',
  '@font-face': 'pages never load fonts; name families that visitors may have',
};
const TOKEN =
  /\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\[^\n])*"|'(?:[^'\\\n]|\\[^\n])*'|url\(\s*(?:"[^"\\\n]*"|'[^'\\\n]*'|[^"'()\\\s]*)\s*\)|[\s\S]/giy;
/** A picture in the style sheet itself, a part of the document, or a file at the root of the site. */
const OWN_ADDRESS = /^(?:data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,][^"'<>]*|#[\w-]+|\/(?!\/)[\w./-]*)$/i;

/** The first thing that cannot stay; null: the style sheet may be used as it is. */
export function stylesheetFault(text: string): StylesheetFault | null {
  const fault = (at: number, message: string): StylesheetFault => ({
    line: text.slice(0, at).split('\n').length,
    message,
  });
  if (new TextEncoder().encode(text).length > STYLESHEET_BYTES_MAX)
    return fault(0, `it is larger than ${STYLESHEET_BYTES_MAX / 1024} KiB, and it is part of every page`);
  const markup = /<\/|<!/.exec(text);
  if (markup !== null) return fault(markup.index, `${markup[0]} would end the style sheet`);
  let bare = '';
  let open = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token.length > 1) {
      const address = /^url\(\s*["']?(.*?)["']?\s*\)$/is.exec(token)?.[1];
      if (address !== undefined && !OWN_ADDRESS.test(address))
        return fault(
          index,
          `${token.slice(0, 80)} is neither a data: image nor a path on this site that starts with /`,
        );
      // What is said of names below is not said of texts and comments; places stay as they were.
      bare += token.replaceAll(/[^\n]/g, ' ');
      continue;
    }
    if (token === '\\')
      return fault(index, 'backslashes outside quotes are not allowed; write the name without escapes');
    if (token === '"' || token === "'") return fault(index, 'a quote is not closed on its line');
    if (token === '{') open += 1;
    if (token === '}') open -= 1;
    if (open < 0) return fault(index, 'a } closes nothing');
    bare += token;
  }
  const loads = LOADS.exec(bare) ?? /\burl\(|\/\*/i.exec(bare);
  if (loads !== null) {
    const why = WHY[loads[0].toLowerCase()];
    return fault(loads.index, `${loads[0]} is not allowed${why === undefined ? '' : `; ${why}`}`);
  }
  return open === 0 ? null : fault(text.length, 'a { is not closed');
}

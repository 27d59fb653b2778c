import { escapeMarkup } from '../../../model/markup.ts';
import type { FileKind } from '../file-kind.ts';
import { fileKind } from '../file-kind.ts';

interface RedirectInputs {
  /** Where it leads, below the page. */
  readonly location: string;
  /** The same, as seen from the file. */
  readonly link: string;
  /** The same as a whole address. */
  readonly url: string;
}

/** For hosts that only have files: no words, so that it is of every language. */
const DOCUMENT = fileKind<RedirectInputs>(
  import.meta.url,
  { name: 'redirect', contentType: 'text/html; charset=utf-8' },
  ({ link, url }) => {
    const [to, whole] = [escapeMarkup(link), escapeMarkup(url)];
    return `<!doctype html>
<html><head><meta charset="utf-8"><title>${whole}</title><meta http-equiv="refresh" content="0; url=${to}"><meta name="robots" content="noindex"><link rel="canonical" href="${whole}"></head><body><a href="${to}">${whole}</a></body></html>
`;
  },
);

export const REDIRECT: FileKind<RedirectInputs> = {
  ...DOCUMENT,
  draw: async (inputs, renderer) => ({ ...(await DOCUMENT.draw(inputs, renderer)), location: inputs.location }),
};

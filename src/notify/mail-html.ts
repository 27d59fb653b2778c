/**
 * The HTML of mails, as mail programs need it: tables, because Outlook for Windows lays out with Word; inline styles
 * (by css-inline), because Gmail drops style sheets in some accounts; no pictures, scripts or fonts. What remains of
 * the style sheet is for programs with dark themes.
 */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { ACCENT, INK, inkOn, LINE, PAPER, QUIET_INK, RAISED } from '../looks/colour.ts';
import { LOOKS } from '../looks/states.ts';
import { escapeMarkup } from '../model/scalars.ts';
import type { State } from '../model/state.ts';
import { once } from '../once.ts';

interface MailLink {
  readonly text: string;
  /** Absolute. */
  readonly href: string;
}

/** One box of a mail. */
export interface MailSection {
  /** Band at the top; null: none. */
  readonly label: { readonly text: string; readonly state: State } | null;
  /** Empty: none. */
  readonly heading: string;
  /** Link of the heading, besides the button; null: none. */
  readonly href: string | null;
  /** Short facts, one per line. */
  readonly facts: readonly string[];
  readonly text: string;
  /** When it was written; empty: not given. */
  readonly time: string;
}

export interface MailDocument {
  readonly locale: string;
  readonly direction: 'ltr' | 'rtl';
  /** Name of the page, at the top. */
  readonly title: string;
  readonly sections: readonly MailSection[];
  readonly button: MailLink | null;
  readonly footer: readonly (string | MailLink)[];
}

/** With six digits, because Word doesn’t read three. */
function writeColour(colour: number): string {
  return `#${colour.toString(16).padStart(6, '0')}`;
}

const hex = Object.fromEntries(
  Object.entries({ paper: PAPER, raised: RAISED, ink: INK, quiet: QUIET_INK, line: LINE, accent: ACCENT }).map(
    ([name, { light, dark }]) => [name, { light: writeColour(light), dark: writeColour(dark) }],
  ),
) as Record<
  'paper' | 'raised' | 'ink' | 'quiet' | 'line' | 'accent',
  { readonly light: string; readonly dark: string }
>;

const SHEET = `
body{margin:0;padding:0}
.paper{background:${hex.paper.light}}
.page{padding:24px 12px}
.column{max-width:600px}
.ink,.quiet,.label,.button{font-family:-apple-system,'Segoe UI',Roboto,Arial,sans-serif}
.ink{color:${hex.ink.light}}
.quiet{color:${hex.quiet.light};font-size:14px;line-height:20px}
.title{font-size:16px;font-weight:600;padding:0 4px 12px}
.part{padding:0 0 16px}
.box{background:${hex.raised.light};border:1px solid ${hex.line.light};border-radius:8px}
.label{font-size:14px;line-height:20px;font-weight:600;padding:8px 20px;border-radius:7px 7px 0 0}
.heading{padding:16px 20px 0}
h1{margin:0;font-size:20px;line-height:26px}
.ink a{color:${hex.ink.light}}
.fact{padding:8px 20px 0}
.text{font-size:16px;line-height:24px;padding:16px 20px 0}
.end{font-size:0;line-height:0;height:20px}
.action{padding:0 0 24px}
.button{padding:12px 24px;border-radius:6px;background:${hex.accent.light}}
.button a{font-size:16px;line-height:20px;font-weight:600;color:#ffffff;text-decoration:none}
.foot{font-size:13px;padding:0 4px 8px}
.foot a{color:${hex.quiet.light}}`;

/** Apple Mail turns text that looks like dates and places into links. */
const KEPT_SHEET = `
a[x-apple-data-detectors]{color:inherit!important;text-decoration:none!important}
@media (prefers-color-scheme:dark){
.paper{background:${hex.paper.dark}!important}
.box{background:${hex.raised.dark}!important;border-color:${hex.line.dark}!important}
.ink,.ink a{color:${hex.ink.dark}!important}
.quiet,.quiet a{color:${hex.quiet.dark}!important}}`;

const TABLE = 'role="presentation" cellpadding="0" cellspacing="0" border="0"';

/** Loaded with the first mail, because most processes send none. */
const loadInliner = once(async () => {
  const { initWasm, inlineFragment } = await import('@css-inline/css-inline-wasm');
  const bytes = await readFile(createRequire(import.meta.url).resolve('@css-inline/css-inline-wasm/index_bg.wasm'));
  // It warns of bytes alone, on standard error among the lines of the log, but has types for nothing else.
  await initWasm({ module_or_path: bytes } as unknown as typeof bytes);
  return inlineFragment;
});

export async function writeHtml({ locale, direction, title, sections, button, footer }: MailDocument): Promise<string> {
  const inline = await loadInliner();
  const name = escapeMarkup(title);
  const body = [
    `<table ${TABLE} width="100%" class="paper" bgcolor="${hex.paper.light}"><tr><td align="center" class="page">`,
    // Word doesn’t support max-width.
    `<!--[if mso]><table ${TABLE} width="600"><tr><td><![endif]-->`,
    `<table ${TABLE} width="100%" dir="${direction}" class="column">`,
    row('ink title', name),
    ...sections.map((section) => row('part', writeSection(section))),
    button === null ? '' : row('action', writeButton(button)),
    ...footer.map((part) => row('quiet foot', typeof part === 'string' ? escapeMarkup(part) : writeLink(part))),
    '</table><!--[if mso]></td></tr></table><![endif]--></td></tr></table>',
  ].join('');
  return [
    `<!doctype html><html lang="${escapeMarkup(locale)}" dir="${direction}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width"><meta name="x-apple-disable-message-reformatting">',
    '<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">',
    '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">',
    `<title>${name}</title><style>${KEPT_SHEET}</style></head>`,
    `<body class="paper" style="margin:0;padding:0;background:${hex.paper.light}">`,
    inline(body, SHEET, { minifyCss: true }),
    '</body></html>',
  ].join('');
}

function row(names: string, content: string, attributes = ''): string {
  return `<tr><td class="${names}"${attributes}>${content}</td></tr>`;
}

function writeSection({ label, heading, href, facts, text, time }: MailSection): string {
  const title = href === null ? escapeMarkup(heading) : writeLink({ text: heading, href });
  return [
    `<table ${TABLE} width="100%" class="box" bgcolor="${hex.raised.light}">`,
    label === null ? '' : writeLabel(label),
    heading === '' ? '' : row('ink heading', `<h1>${title}</h1>`),
    ...facts.map((fact) => row('quiet fact', escapeMarkup(fact))),
    text === '' ? '' : row('ink text', escapeMarkup(text).replaceAll('\n', '<br>'), ' dir="auto"'),
    time === '' ? '' : row('quiet fact', escapeMarkup(time)),
    `${row('end', '&nbsp;')}</table>`,
  ].join('');
}

function writeLabel({ text, state }: { readonly text: string; readonly state: State }): string {
  const plate = LOOKS[state].solid.light;
  const background = writeColour(plate);
  const colours = ` bgcolor="${background}" style="background:${background};color:${writeColour(inkOn(plate))}"`;
  return row('label', escapeMarkup(text), colours);
}

/** The cell has the padding, because Word ignores that of links. */
function writeButton(link: MailLink): string {
  return `<table ${TABLE}>${row('button', writeLink(link), ` bgcolor="${hex.accent.light}"`)}</table>`;
}

function writeLink({ text, href }: MailLink): string {
  return `<a href="${escapeMarkup(href)}">${escapeMarkup(text)}</a>`;
}

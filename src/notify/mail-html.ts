/**
 * The HTML of a mail, as mail programs read it: tables, since Outlook for Windows lays out with Word; styles in the tags,
 * since some programs drop style sheets; no pictures, scripts or fonts. One style sheet for those that know dark themes.
 */

import { ACCENT, INK, inkOn, LINE, PAPER, QUIET_INK, RAISED, toHex } from '../looks/colour.ts';
import { LOOKS } from '../looks/states.ts';
import { escapeMarkup } from '../model/scalars.ts';
import type { State } from '../model/state.ts';

export interface MailLink {
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
  /** Where the heading leads, besides the button; null: nowhere. */
  readonly href: string | null;
  /** Short facts, a line each. */
  readonly facts: readonly string[];
  readonly text: string;
  /** When it was written; empty: not said. */
  readonly time: string;
}

interface MailDocument {
  readonly locale: string;
  readonly direction: 'ltr' | 'rtl';
  /** Name of the page, at the top. */
  readonly title: string;
  readonly sections: readonly MailSection[];
  readonly button: MailLink | null;
  readonly footer: readonly (string | MailLink)[];
}

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Arial,sans-serif";
const [paper, raised, ink, quiet, line, accent] = [PAPER, RAISED, INK, QUIET_INK, LINE, ACCENT].map(({ light }) =>
  toHex(light),
);
const TABLE = 'role="presentation" cellpadding="0" cellspacing="0" border="0"';
const DARK = [
  `.paper{background:${toHex(PAPER.dark)}!important}`,
  `.box{background:${toHex(RAISED.dark)}!important;border-color:${toHex(LINE.dark)}!important}`,
  `.ink,.ink a{color:${toHex(INK.dark)}!important}`,
  `.quiet,.quiet a{color:${toHex(QUIET_INK.dark)}!important}`,
].join('');

export function writeHtml({ locale, direction, title, sections, button, footer }: MailDocument): string {
  const name = escapeMarkup(title);
  return [
    `<!doctype html><html lang="${escapeMarkup(locale)}" dir="${direction}"><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">',
    `<meta name="supported-color-schemes" content="light dark"><title>${name}</title>`,
    `<style>@media (prefers-color-scheme:dark){${DARK}}</style></head>`,
    `<body class="paper" style="margin:0;padding:0;background:${paper}">`,
    `<table ${TABLE} width="100%" class="paper" bgcolor="${paper}" style="background:${paper}"><tr><td align="center" style="padding:24px 12px">`,
    `<table ${TABLE} width="100%" dir="${direction}" style="max-width:600px">`,
    row(`<span class="ink" style="${FONT};font-size:16px;font-weight:600;color:${ink}">${name}</span>`, '0 4px 12px'),
    ...sections.map((section) => row(writeSection(section), '0 0 16px')),
    button === null ? '' : row(writeButton(button), '0 0 24px'),
    ...footer.map((part) => row(writeFooter(part), '0 4px 8px')),
    '</table></td></tr></table></body></html>',
  ].join('');
}

function row(content: string, padding: string): string {
  return `<tr><td style="padding:${padding}">${content}</td></tr>`;
}

function writeSection({ label, heading, href, facts, text, time }: MailSection): string {
  const cell = (content: string, style: string): string =>
    `<tr><td class="ink" style="${FONT};${style};color:${ink}">${content}</td></tr>`;
  const title = escapeMarkup(heading);
  const linked = href === null ? title : `<a href="${escapeMarkup(href)}" style="color:inherit">${title}</a>`;
  const quietCell = (content: string): string =>
    `<tr><td class="quiet" style="${FONT};font-size:14px;line-height:20px;padding:8px 20px 0;color:${quiet}">${content}</td></tr>`;
  return [
    `<table ${TABLE} width="100%" class="box" bgcolor="${raised}" style="background:${raised};border:1px solid ${line};border-radius:8px">`,
    label === null ? '' : writeLabel(label),
    heading === ''
      ? ''
      : cell(`<h1 style="margin:0;font-size:20px;line-height:26px">${linked}</h1>`, 'padding:16px 20px 0'),
    ...facts.map((fact) => quietCell(escapeMarkup(fact))),
    text === ''
      ? ''
      : cell(escapeMarkup(text).replaceAll('\n', '<br>'), 'font-size:16px;line-height:24px;padding:16px 20px 0'),
    time === '' ? '' : quietCell(escapeMarkup(time)),
    '<tr><td style="font-size:0;line-height:0;height:20px">&nbsp;</td></tr></table>',
  ].join('');
}

function writeLabel({ text, state }: { readonly text: string; readonly state: State }): string {
  const plate = LOOKS[state].solid.light;
  const background = toHex(plate);
  return `<tr><td bgcolor="${background}" style="${FONT};font-size:14px;line-height:20px;font-weight:600;padding:8px 20px;border-radius:7px 7px 0 0;background:${background};color:${toHex(inkOn(plate))}">${escapeMarkup(text)}</td></tr>`;
}

/** The padding is the cell's: Word knows none of a link. */
function writeButton({ text, href }: MailLink): string {
  return `<table ${TABLE}><tr><td bgcolor="${accent}" style="padding:12px 24px;border-radius:6px;background:${accent}"><a href="${escapeMarkup(href)}" style="${FONT};font-size:16px;line-height:20px;font-weight:600;color:#fff;text-decoration:none">${escapeMarkup(text)}</a></td></tr></table>`;
}

function writeFooter(part: string | MailLink): string {
  const content =
    typeof part === 'string'
      ? escapeMarkup(part)
      : `<a href="${escapeMarkup(part.href)}" style="color:${quiet}">${escapeMarkup(part.text)}</a>`;
  return `<span class="quiet" style="${FONT};font-size:13px;line-height:20px;color:${quiet}">${content}</span>`;
}

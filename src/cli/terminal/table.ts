import { stripVTControlCharacters, styleText } from 'node:util';

/** If the last column would be narrower than this, it goes below its row. */
const LAST_COLUMN_MIN = 24;
const INDENT = '    ';

/**
 * A table of text; colours don't count as width. On a terminal, the last column is wrapped, or placed on a line of its
 * own below its row if it would be too narrow. If the other columns don't fit either, each row becomes a list. By hand:
 * packages draw boxes, but scripts split our output at spaces.
 *
 * @param columns  width of the terminal; undefined: none, so lines aren't wrapped
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number | undefined = terminalColumns(),
): string {
  const last = head.length - 1;
  const widths = head.map((title, column) =>
    Math.max(textWidth(title), ...rows.map((row) => textWidth(row[column] ?? ''))),
  );
  const start = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  if (columns !== undefined && start - GAP.length > columns)
    return rows.map((row) => listed(head, row, columns)).join('\n');
  const room = columns === undefined ? Number.POSITIVE_INFINITY : columns - start;
  const isBelow = room < Math.min(LAST_COLUMN_MIN, widths[last] ?? 0);
  const line = (cells: readonly string[]): string => {
    const before = cells
      .slice(0, last)
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - textWidth(cell)));
    const texts = wrapped(cells[last] ?? '', isBelow ? (columns ?? 0) - INDENT.length : room);
    if (!isBelow) return [...before, texts.join(`\n${' '.repeat(start)}`)].join(GAP).trimEnd();
    const below = texts.filter((text) => text !== '').map((text) => `\n${INDENT}${text}`);
    return before.join(GAP).trimEnd() + below.join('');
  };
  const rule = widths.map((width, column) => '─'.repeat(column === last ? Math.min(width, Math.max(0, room)) : width));
  return [line(head), isBelow ? rule.slice(0, last).join(GAP) : rule.join(GAP).trimEnd(), ...rows.map(line)].join('\n');
}

const GAP = '  ';

/** A row as a list: the cells that name it on one line, the others below with their titles. */
function listed(head: readonly string[], row: readonly string[], columns: number): string {
  const named = head.findIndex((title) => title !== '') + 1;
  const name = row.slice(0, named).join(' ').trim();
  const others = head.flatMap((title, column) => {
    const cell = row[column] ?? '';
    if (column < named || cell === '') return [];
    return wrapped(title === '' ? cell : `${title}: ${cell}`, columns - INDENT.length);
  });
  return [name, ...others.map((text) => INDENT + text)].join('\n');
}

/** Wraps a text at the width of the terminal, with further lines indented. */
export function paragraph(text: string, indent: string, columns: number | undefined = terminalColumns()): string {
  if (columns === undefined) return text;
  const [first = '', ...rest] = wrapped(text, columns - indent.length);
  return [first, ...rest.map((line) => indent + line)].join('\n');
}

/** A command that can be copied, as in examples. */
const COMMAND = /^\s*(?:pharos|npx|npm|export|source|docker) /;
/** A numbered line of a file, or the carets below it. */
const EXCERPT = /^\s*\d* +\| /;

/**
 * Wraps text of several lines at the width of the terminal. Continued lines are indented by two more columns. Commands
 * are continued with a backslash, so that they can be copied. Lines of a file stay unchanged.
 */
export function wrapText(text: string, columns: number | undefined = terminalColumns()): string {
  if (columns === undefined) return text;
  return text
    .split('\n')
    .map((line) => {
      if (textWidth(line) <= columns || EXCERPT.test(line)) return line;
      const indent = `${/^ */.exec(line)?.[0] ?? ''}  `;
      if (!COMMAND.test(line)) return paragraph(line, indent, columns);
      return wrapped(line, columns - indent.length - 2).join(` \\\n${indent}`);
    })
    .join('\n');
}

/** Breaks text between words into lines of at most `width` columns. Longer words, and short text in quotes, stay whole. */
function wrapped(text: string, width: number): string[] {
  if (textWidth(text) <= width) return [text];
  const lines: string[] = [];
  const whole = text
    .replace(SHORT_QUOTE, (quote) => quote.replaceAll(' ', NO_BREAK))
    .replace(/^ +/, (indent) => NO_BREAK.repeat(indent.length));
  for (const word of whole.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(last) + 1 + textWidth(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => line.replaceAll(NO_BREAK, ' '));
}

const SHORT_QUOTE = /(["`])[^"`]{1,40}\1/g;
const NO_BREAK = '\u00a0';

const segments = new Intl.Segmenter();
/** Two columns wide in terminals: East Asian scripts and emoji. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|^\p{Emoji_Presentation}/u;

/** Cuts a text without colours to a number of columns. */
export function cut(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let width = 0;
  let shown = '';
  for (const { segment } of segments.segment(text)) {
    width += textWidth(segment);
    if (width > columns - 1) break;
    shown += segment;
  }
  return `${shown}…`;
}

/** Columns that a text takes on a terminal. */
export function textWidth(text: string): number {
  const plain = stripVTControlCharacters(text);
  if (/^[\x20-\x7e]*$/.test(plain)) return plain.length;
  let width = 0;
  for (const { segment } of segments.segment(plain)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

// The width of output.

const COLUMNS_DEFAULT = 80;

/**
 * COLUMNS if set, else the width of the terminal. Undefined: no terminal, so lines aren't wrapped. Some
 * pseudo-terminals report zero columns.
 */
export function terminalColumns(
  stream: { readonly isTTY?: boolean; readonly columns?: number } = process.stdout,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): number | undefined {
  const wanted = Number(environment['COLUMNS']);
  if (Number.isInteger(wanted) && wanted > 0) return wanted;
  if (stream.isTTY !== true) return undefined;
  return stream.columns || COLUMNS_DEFAULT;
}

const STYLES = { good: 'green', middling: 'yellow', bad: 'red', faint: 'dim' } as const;
/** The meaning of a colour. */
type Tone = keyof typeof STYLES;

/** Colours a text if standard output supports it; respects NO_COLOR and FORCE_COLOR. */
export function paint(tone: Tone, text: string): string {
  return styleText(STYLES[tone], stripVTControlCharacters(text), { stream: process.stdout });
}

const MARKS = { good: '✓', middling: '!', bad: '✗', faint: '–' } as const;

/** The coloured mark at the beginning of a result. */
export function mark(tone: Tone): string {
  return paint(tone, MARKS[tone]);
}

/** A result as a paragraph that begins with its mark. The text may be foreign. */
export function marked(tone: Tone, text: string): string {
  return paragraph(`${mark(tone)} ${plain(text)}`, '  ');
}

/** Makes foreign text safe for one line of a terminal: without escape sequences and control characters. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replace(/\p{Cc}+/gu, ' ');
}

import { stripVTControlCharacters, styleText } from 'node:util';

/** How something went. */
type Tone = 'good' | 'middling' | 'bad' | 'faint';

const STYLES = { good: 'green', middling: 'yellow', bad: 'red', faint: 'dim' } as const;

/** A text in colour where standard output is a terminal that shows colours; NO_COLOR and FORCE_COLOR are heeded. */
export function paint(tone: Tone, text: string): string {
  return styleText(STYLES[tone], stripVTControlCharacters(text), { stream: process.stdout });
}

/** A text from elsewhere for one line of a terminal: no escape sequence and no control character of it gets there. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replace(/\p{Cc}+/gu, ' ');
}

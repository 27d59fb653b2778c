/** The few elements of HTML that others write their updates with, as Markdown; everything else stays text. */

const RULES: readonly (readonly [RegExp, string])[] = [
  [/<br\s*\/?>\r?\n?/gi, '\n'],
  [/<p(?:\s[^<>]*)?>/gi, ''],
  [/<\/p>\s*/gi, '\n\n'],
  [/<(?:b|strong)>([^<>]*)<\/(?:b|strong)>/gi, '**$1**'],
  [/<(?:i|em)>([^<>]*)<\/(?:i|em)>/gi, '*$1*'],
  [/<code>([^<>`]*)<\/code>/gi, '`$1`'],
  [/<li(?:\s[^<>]*)?>/gi, '\n- '],
  [/<\/li>|<\/?[uo]l(?:\s[^<>]*)?>/gi, '\n'],
  [/<a\s[^<>]*?href="(https?:\/\/[^"<>\s()]*)"[^<>]*>([^<>[\]]*)<\/a>/gi, '[$2]($1)'],
];

/** Text with a little HTML in it as Markdown, in which markup means nothing. */
export function markdownOf(text: string): string {
  if (!/<\/?[a-z]/i.test(text)) return text;
  return RULES.reduce((words, [pattern, to]) => words.replace(pattern, to), text)
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

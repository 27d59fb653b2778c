/** Text that breaks programs: made the same way on every machine. */

const PIECES: readonly string[] = [
  'a',
  'API',
  ' ',
  '99.98%',
  '<',
  '>',
  '&',
  '"',
  "'",
  '</title>',
  ']]>',
  '<!--',
  '<script>alert(1)</script>',
  '&amp;',
  '&#0;',
  '" onload="x',
  '{n}',
  '${x}',
  '$&',
  '\\',
  '/',
  '\0',
  '\b',
  '\t',
  '\n',
  '\r',
  '\x1b[31m',
  '\x7f',
  '\x85',
  '\u2028',
  '\u00a0',
  '\u00ad',
  '\u200d',
  '\u202e',
  '\u202a',
  '\u2066',
  '\u2069',
  '\u061c',
  '\ufeff',
  '\ufffe',
  '\uffff',
  '\ufdd0',
  '\u{1fffe}',
  '\ud800',
  '\udc00',
  '\ud83d',
  '😀',
  '👩‍👩‍👧',
  '🇩🇪',
  '❤️',
  'é',
  'e\u0301',
  'Z\u0310\u0320\u0331',
  'ß',
  'Ł',
  'Ж',
  'Ω',
  'العربية',
  'עברית',
  '漢字',
  'かな',
  '한국어',
  'हिन्दी',
  'ไทย',
  '\u{10ffff}',
  '\ue000',
  '…',
  '—',
  '½',
];

/** `count` texts, the same ones in every run; about one in a hundred has 10,000 characters. */
export function awkwardTexts(count: number, seed = 1): string[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, index) => {
    const length = index % 100 === 7 ? 10_000 : Math.floor(random() * 40);
    let text = '';
    while (text.length < length) {
      const isPiece = random() < 0.7;
      text += isPiece ? (PIECES[Math.floor(random() * PIECES.length)] ?? '') : String.fromCharCode(random() * 0x10000);
    }
    return text.slice(0, length);
  });
}

/** Mulberry32: numbers from 0 to 1 that depend on the seed alone. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

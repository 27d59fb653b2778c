/** When a day was in which state, as words: for tables by the server, for the pop-over by its script, which imports nothing else. */

const MINUTE_MS = 60_000;

interface SpanWords {
  readonly stateWord: (letter: string) => string;
  /** Of minutes since midnight. */
  readonly clock: { readonly format: (ms: number) => string };
  /** Empty where a browser cannot write it. */
  readonly duration: (ms: number) => string;
  readonly ongoing: string;
}

/**
 * `Degraded 10:31 – 12:05 (1 h 34 min), Major outage 12:05 – ongoing`. The state is left out where it is that of the whole day,
 * which stands beside it.
 *
 * @param packed  as `packSpans` in `views/days/day-bar.ts` makes it
 */
export function writeSpans(
  packed: string,
  dayLetter: string,
  { stateWord, clock, duration, ongoing }: SpanWords,
): string {
  const spans = packed.split(' ').filter(Boolean);
  const isNamed = spans.every((span) => span[0] === dayLetter.toLowerCase());
  const write = (span: string) => {
    const [, letter = '', from = '', to, count, unit, later] =
      /(\D)(\d*)(?:-(\d+))?(?:\+(\d+)(s?)(e?))?/.exec(span) ?? [];
    const length = Number(count ?? 0);
    const timeAt = (minute: number) => clock.format(minute * MINUTE_MS);
    const end = length === 0 ? ongoing : timeAt(Number(to ?? Number(from) + length + (later ? 1 : 0)));
    // Within a minute one time is enough; of a sum, and of what began before, there is none.
    const when = from === '' ? (length > 0 ? '' : ongoing) : timeAt(Number(from)) + (unit ? '' : ` – ${end}`);
    const long = length > 0 ? duration((length * MINUTE_MS) / (unit ? 60 : 1)) : '';
    return [isNamed ? '' : stateWord(letter), when, when && long ? `(${long})`.replace(/ (?=\p{L})/gu, '\u{a0}') : long]
      .filter(Boolean)
      .join(' ');
  };
  return spans.map(write).join(', ');
}

/** What we use of it. The types that others published do not know that a server may have an order of its own. */
declare module 'negotiator' {
  export default class Negotiator {
    constructor(request: { readonly headers: Readonly<Record<string, string>> });
    /** Those that the client takes, best first; of what it likes alike, in the order of `preferred`. */
    encodings<Encoding extends string>(
      available: readonly Encoding[],
      options: { readonly preferred: readonly Encoding[] },
    ): Encoding[];
  }
}

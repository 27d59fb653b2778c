/** Only what we use. The published types lack the server's order of preference. */
declare module 'negotiator' {
  export default class Negotiator {
    constructor(request: { readonly headers: Readonly<Record<string, string>> });
    /** Encodings that the client accepts, best first; equally good ones in the order of `preferred`. */
    encodings<Encoding extends string>(
      available: readonly Encoding[],
      options: { readonly preferred: readonly Encoding[] },
    ): Encoding[];
  }
}

/** The package's own types are those of its sources, which Node can't load. */
declare module 'adaptivecards/dist/adaptivecards.js' {
  interface Fault {
    readonly message: string;
  }
  class SerializationContext {
    readonly eventCount: number;
    getEventAt(index: number): Fault;
  }
  class AdaptiveCard {
    parse(source: object, context: SerializationContext): void;
    validateProperties(): { readonly validationEvents: readonly Fault[] };
    toJSON(): unknown;
  }
  const adaptiveCards: { AdaptiveCard: typeof AdaptiveCard; SerializationContext: typeof SerializationContext };
  export default adaptiveCards;
}

/** The top of the page: the state in a sentence, and what it is about. */

import { type ComponentModel, fillPieces, joinPieces, type State, toPiece } from '../../model/index.ts';
import { type LinkView, linkTo, type ViewContext } from '../frame/shell.ts';
import { countedComponents } from '../model/page-state.ts';
import { pathSegment } from '../text/addresses.ts';
import { count } from '../words/index.ts';
import { bannerSentence, TROUBLE_KEYS } from '../words/state-words.ts';

/** Names listed for each state; the rest is counted. */
const BANNER_NAMES_MAX = 5;

/** Where a single component is all the trouble, the sentence names it. */
const ONE_IN_TROUBLE: Partial<Record<State, 'bannerOneDown' | 'bannerOnePartlyDown' | 'bannerOneDegraded'>> = {
  major_outage: 'bannerOneDown',
  partial_outage: 'bannerOnePartlyDown',
  degraded: 'bannerOneDegraded',
};

/** The state in a sentence, and which components it is about. */
export function buildBanner(context: ViewContext) {
  const { model, words } = context;
  const counted = countedComponents(model.components);
  const lists = TROUBLE_KEYS.map(([state, key]) => ({
    key,
    components: counted.filter((one) => one.state === state),
  })).filter(({ components }) => components.length > 0);
  const [only, ...others] = lists.flatMap(({ components }) => components);
  const key = only === undefined || others.length > 0 ? undefined : ONE_IN_TROUBLE[only.state];
  const named = key === undefined || only === undefined ? null : fillPieces(words[key], { name: [toPiece(only)] });
  // What the sentence names is not listed below it.
  const details: (string | LinkView)[][] =
    named === null ? lists.map((list) => bannerParts(context, words[list.key], list.components)) : [];
  const rest = model.components.filter((one) => one !== only && !others.includes(one));
  if (only !== undefined && rest.length > 0 && rest.every(({ state }) => state === 'operational'))
    details.push([words.bannerRest]);
  if (model.components.length === 0) details.push([words.bannerNothing]);
  const { text: sentence, ...pieces } = joinPieces(named ?? [bannerSentence(model.state, words)]);
  return { state: model.state, sentence, ...pieces, details };
}

/** A sentence with the names of components in it, each a link to its row. */
function bannerParts(
  { words, format, locale }: ViewContext,
  sentence: string,
  components: readonly ComponentModel[],
): (string | LinkView)[] {
  const isLong = components.length > BANNER_NAMES_MAX + 1;
  const named = isLong ? components.slice(0, BANNER_NAMES_MAX) : components;
  const more = isLong ? count(words.bannerOthers, components.length - named.length, locale) : '';
  return fillPieces(sentence, { names: format.listPieces(named, (one) => linkTo(one, `#${rowId(one)}`), more) });
}

/** Of the rows that the banner leads to. */
export function rowId({ definition }: ComponentModel): string {
  return `c-${pathSegment(definition.id)}`;
}

/** A detail of the banner without its links. */
export function plainText(parts: readonly (string | LinkView)[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('');
}

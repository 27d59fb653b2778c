/** `verify/`: how to verify the page, and which past days were corrected. */

import type { ComponentModel, LogSummary, WitnessWord } from '../../model/index.ts';
import { WITNESS_PATH } from '../../model/slugs.ts';
import type { Day, EpochMs } from '../../model/time.ts';
import { buildShell, createContext, linkTo, type PageFrame, rootUrl, type ViewContext } from '../frame/shell.ts';
import { componentPath, VERIFY_PATH } from '../text/addresses.ts';
import { fill } from '../words/index.ts';

interface VerifyInputs {
  readonly frame: PageFrame;
  readonly log: LogSummary | null;
  readonly components: readonly Pick<ComponentModel, 'name' | 'lang' | 'definition'>[];
}

export function verifyView({ frame, log, components }: VerifyInputs) {
  const context = createContext(frame, '../');
  const { words, format, base } = context;
  const byId = new Map(components.map((one) => [one.definition.id, one]));
  return {
    shell: buildShell(context, { title: words.verifyPage, description: words.verifyLead, path: VERIFY_PATH }),
    command: `pharos verify ${rootUrl(frame.settings)}`,
    entries: format.number(log?.size ?? 0),
    // The first digits of the root of the log; null: it has none yet.
    digest: log === null ? null : Buffer.from(log.root, 'base64').toString('hex').slice(0, 12),
    // Null: the page has no witnesses.
    witnesses: (log?.witnesses ?? []).length === 0 ? null : listWitnesses(log?.witnesses ?? [], context),
    corrected: (log?.corrected ?? []).flatMap(({ component, day, at }) => {
      const one = byId.get(component);
      if (one === undefined) return [];
      return [{ ...linkTo(one, base + componentPath(component)), ...correctionView(context, { day, at }) }];
    }),
  };
}

/** A past day that was corrected. */
export function correctionView(
  { words, format }: Pick<ViewContext, 'words' | 'format'>,
  { day, at }: { readonly day: Day; readonly at: EpochMs },
) {
  const [before = '', after = ''] = words.correctedOn.split('{date}');
  // The sentence before and after the time in it.
  return { day: format.dayInYear(day), on: [before, format.zoned.time(at), after] as const };
}

function listWitnesses(witnesses: readonly WitnessWord[], { words, format }: Pick<ViewContext, 'words' | 'format'>) {
  const verdicts = { agrees: words.witnessAgrees, differs: words.witnessDiffers, away: words.witnessAway };
  const agreeing = witnesses.filter(({ word }) => word === 'agrees').length;
  return {
    heading: fill(words.witnessesAgree, { count: format.number(agreeing), total: format.number(witnesses.length) }),
    list: witnesses.map(({ url, word, faults }) => ({
      href: new URL(WITNESS_PATH, url).href,
      name: new URL(url).host,
      word: verdicts[word],
      faults: faults.slice(0, 3).join(' ').slice(0, 500),
    })),
  };
}

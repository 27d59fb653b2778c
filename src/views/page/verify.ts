/** `verify/`: how to verify the page, and which past days were corrected. */

import type { ComponentModel, LogSummary } from '../../model/index.ts';
import type { PageFrame } from '../frame/page-frame.ts';
import { buildShell, createContext, type ShellView } from '../frame/shell.ts';
import { componentPath, VERIFY_PATH } from '../text/addresses.ts';
import type { TimeView } from '../text/format.ts';
import type { Words } from '../words/types.ts';

export interface VerifyView {
  readonly shell: ShellView;
  readonly words: Pick<
    Words,
    'verifyPage' | 'verifyLead' | 'logEntries' | 'logHead' | 'correctedDays' | 'noCorrections'
  >;
  readonly command: string;
  readonly entries: string;
  /** The first digits of the root of the log; null: it has none yet. */
  readonly head: string | null;
  readonly corrected: readonly {
    readonly name: string;
    readonly href: string;
    readonly day: string;
    /** The sentence before and after the time in it. */
    readonly on: readonly [string, TimeView, string];
  }[];
}

export interface VerifyInputs {
  readonly frame: PageFrame;
  readonly log: LogSummary | null;
  readonly components: readonly Pick<ComponentModel, 'name' | 'definition'>[];
}

export function verifyView({ frame, log, components }: VerifyInputs): VerifyView {
  const context = createContext(frame, { base: '../' });
  const { words, format, base } = context;
  const names = new Map(components.map(({ definition, name }) => [definition.id, name]));
  const [before = '', after = ''] = words.correctedOn.split('{date}');
  return {
    shell: buildShell(context, {
      ...{ title: words.verifyPage, description: words.verifyLead, path: VERIFY_PATH },
      ...{ section: null, present: null },
    }),
    words,
    command: `pharos verify ${frame.settings.url}`,
    entries: format.number(log?.size ?? 0),
    head: log === null ? null : Buffer.from(log.root, 'base64').toString('hex').slice(0, 12),
    corrected: (log?.corrected ?? []).flatMap(({ component, day, at }) => {
      const name = names.get(component);
      if (name === undefined) return [];
      return [
        {
          name,
          href: base + componentPath(component),
          day: format.dayInYear(day),
          on: [before, format.zoned.time(at), after] as const,
        },
      ];
    }),
  };
}

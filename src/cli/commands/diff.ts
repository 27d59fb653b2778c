import { ownComponents } from '../../app/build-store.ts';
import { now } from '../../app/clock.ts';
import { type PagePlan, type Plan, planPublish } from '../../app/plan.ts';
import { drawingWith } from '../../app/workers/drawing.ts';
import { loadRenderer } from '../../publish/draw/renderer.ts';
import { counted } from '../../schema/counted.ts';
import { EXIT_DONE } from '../terminal/exit.ts';
import { paint, plain } from '../terminal/paint.ts';
import { createProgress } from '../terminal/progress.ts';
import { paragraph } from '../terminal/table.ts';
import { openToRead, print, requireConfig } from './common.ts';

export interface DiffOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  /** Every file by its path. */
  readonly files?: boolean;
}

/** What the next publish would change, by the configuration as it is written and what is stored; asks nobody and publishes nothing. */
export async function diff(options: DiffOptions): Promise<number> {
  const config = requireConfig(options.config);
  const progress = createProgress(options.quiet ?? options.json ?? false);
  await using pharos = await openToRead(config);
  try {
    progress.doing('comparing pages');
    const renderer = await loadRenderer(ownComponents(config));
    const plan = await planPublish(
      {
        pharos,
        ...drawingWith(renderer),
        onPage: (done, total) => progress.doing(`compared ${done} of ${counted(total, 'pages')}`),
      },
      await pharos.readSite(now()),
    );
    progress.end();
    print(options.json === true, plan, planText(plan, options.files === true));
    return EXIT_DONE;
  } finally {
    progress.end();
  }
}

const TONES = { new: 'good', changed: 'middling', unchanged: 'faint', withdrawn: 'bad' } as const;

function planText({ pages, problems }: Plan, hasFiles: boolean): string {
  const parts = pages.flatMap((page) => [planHeading(page), ...factsOf(page), ...(hasFiles ? changedFiles(page) : [])]);
  const shown = new Set(pages.filter(({ kind }) => kind !== 'withdrawn').map(({ slug }) => slug));
  const told = problems.map(({ slug, message }) => {
    const [sign, words] = shown.has(slug) ? [paint('middling', '!'), ''] : [paint('bad', '✗'), ' is not published'];
    return paragraph(`${sign} ${slug}${words}: ${plain(message)}`, '  ');
  });
  const isSame = pages.every(({ kind }) => kind === 'unchanged');
  return [...parts, ...told, ...(isSame ? ['No changes to publish.'] : [])].join('\n');
}

function planHeading({ slug, kind, added, changed, removed }: PagePlan): string {
  const counts = [`${added.length} new`, `${changed.length} changed`, `${removed.length} removed`];
  return `${paint(TONES[kind], kind)} ${slug}${kind === 'unchanged' ? '' : `: files ${counts.join(', ')}`}`;
}

function factsOf({ facts }: PagePlan): string[] {
  return facts.map(({ name, from, to }) => `  ${name}: ${from ?? 'none'} → ${to ?? 'none'}`);
}

function changedFiles({ added, changed, removed }: PagePlan): string[] {
  return [
    ...added.map((path) => `  ${paint('good', '+')} ${path}`),
    ...changed.map((path) => `  ${paint('middling', '~')} ${path}`),
    ...removed.map((path) => `  ${paint('bad', '-')} ${path}`),
  ];
}

/** The result of publishing: plain data for the command line, the log and the operators' page. */

export interface PageReport {
  readonly slug: string;
  /** `held`: an operator keeps the page on its release with `pharos rollback --hold`. */
  readonly kind: 'published' | 'unchanged' | 'held' | 'failed' | 'withdrawn';
  readonly release: number | null;
  readonly filesDrawn: number;
  readonly filesTotal: number;
  readonly durationMs: number;
  readonly message: string | null;
}

export interface PublishReport {
  /** The pages that had news or were due. */
  readonly pages: readonly PageReport[];
  /** Why pages could not be published as they are defined. */
  readonly problems: readonly { readonly slug: string; readonly message: string }[];
  readonly durationMs: number;
}

/** Fills in what is left out. */
export function pageReport(
  slug: string,
  kind: PageReport['kind'],
  facts: Partial<Omit<PageReport, 'slug' | 'kind'>> = {},
): PageReport {
  return { slug, kind, release: null, filesDrawn: 0, filesTotal: 0, durationMs: 0, message: null, ...facts };
}

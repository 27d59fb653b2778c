/** What publishing tells about itself: plain data for the command line, the log and the operators' page. */

export interface PageReport {
  readonly slug: string;
  /** `held`: it stays on its release until an operator lets it go. */
  readonly kind: 'published' | 'unchanged' | 'held' | 'failed' | 'withdrawn';
  readonly release: number | null;
  readonly filesDrawn: number;
  readonly filesTotal: number;
  readonly durationMs: number;
  readonly message: string | null;
}

export interface PublishReport {
  /** The pages that were looked at: those that something happened to, and those that were due. */
  readonly pages: readonly PageReport[];
  /** Pages that could not be published as they are defined, in words. */
  readonly problems: readonly { readonly slug: string; readonly message: string }[];
  readonly durationMs: number;
}

/** A report with everything that is not said as nothing. */
export function pageReport(
  slug: string,
  kind: PageReport['kind'],
  facts: Partial<Omit<PageReport, 'slug' | 'kind'>> = {},
): PageReport {
  return { slug, kind, release: null, filesDrawn: 0, filesTotal: 0, durationMs: 0, message: null, ...facts };
}

/** `pharos import`: another status page as posts, a page and redirects. */

import { cstateSite } from '../../../imports/cstate/site.ts';
import { type GatusPart, gatusConfig } from '../../../imports/gatus/config.ts';
import { gatusFromApi, gatusFromDatabase } from '../../../imports/gatus/read.ts';
import { gatusSite } from '../../../imports/gatus/site.ts';
import { readStatuspage } from '../../../imports/statuspage/read.ts';
import { statuspageSite } from '../../../imports/statuspage/site.ts';
import { issuesFromFile } from '../../../imports/upptime/issues.ts';
import { readIssues } from '../../../imports/upptime/read.ts';
import { upptimeConfig, upptimeSite } from '../../../imports/upptime/site.ts';
import { kumaFromApi, kumaFromDatabase, NoKumaPageError } from '../../../imports/uptime-kuma/read.ts';
import { kumaSite } from '../../../imports/uptime-kuma/site.ts';
import { UsageError } from '../../terminal/exit.ts';
import { askingAt, databaseAt, filesIn, isAddress, isDatabase, jsonOf, nameOf, yamlOf } from './sources.ts';
import { contextOf, type ImportOptions, writeImport } from './write.ts';

/** A page's address, or documents of its API. */
export async function importStatuspage(places: readonly string[], options: ImportOptions): Promise<number> {
  const context = contextOf(options);
  const read = await Promise.all(
    places.map(async (place) =>
      isAddress(place)
        ? askingAt(place, options, readStatuspage)
        : { documents: [{ name: nameOf(place), value: jsonOf(place) }], notes: [] },
    ),
  );
  const site = statuspageSite(
    read.flatMap(({ documents }) => documents),
    context,
  );
  const notes = [...read.flatMap((one) => one.notes), ...site.notes];
  return writeImport({ ...site, notes }, context, options);
}

/** The folder of a site. */
export async function importCstate(folder: string, options: ImportOptions): Promise<number> {
  const context = contextOf(options);
  const files = filesIn(folder, (path) => /^(?:content\/.*\.(?:md|markdown|html)|(?:config|hugo)\.\w+)$/.test(path));
  if (!files.some(({ path }) => path.startsWith('content/')))
    throw new UsageError(
      `${folder} has no content folder. Pass the folder of the cState site, which contains config.yml.`,
    );
  return writeImport(cstateSite(files, context), context, options);
}

const GITHUB_API = 'https://api.github.com';

/** The folder of a repository, and its issues. */
export async function importUpptime(folder: string, options: ImportOptions): Promise<number> {
  const context = contextOf(options);
  const files = filesIn(folder, (path) => /^(?:\.upptimerc\.ya?ml|history\/summary\.json)$/.test(path));
  if (files.length === 0)
    throw new UsageError(
      `${folder} has neither .upptimerc.yml nor history/summary.json. Pass the folder of the Upptime repository.`,
    );
  const config = upptimeConfig(files);
  const { owner, repo } = config ?? {};
  if (options.issues === undefined && (owner == null || repo == null))
    throw new UsageError(
      `.upptimerc.yml in ${folder} has no owner and repo, so Pharos can’t request its issues. Pass a file of issues with --issues.`,
    );
  const issues =
    options.issues === undefined
      ? await askingAt(config?.['status-website']?.apiBaseUrl ?? GITHUB_API, options, (ask) =>
          readIssues(ask, { owner: owner ?? '', repo: repo ?? '' }),
        )
      : issuesFromFile(jsonOf(options.issues));
  return writeImport(upptimeSite(files, issues, context), context, options);
}

/** Address of a status page, or a database. */
export async function importUptimeKuma(place: string, options: ImportOptions): Promise<number> {
  const context = contextOf(options);
  try {
    const page = isAddress(place) ? await kumaAt(place, options) : await kumaIn(place, options);
    return writeImport(kumaSite(page, context), context, options);
  } catch (error) {
    if (error instanceof NoKumaPageError) throw new UsageError(`${place}: ${error.message}.`);
    throw error;
  }
}

function kumaAt(place: string, options: ImportOptions): ReturnType<typeof kumaFromApi> {
  if (options.checks === true)
    throw new UsageError(
      `${place} doesn’t say how Uptime Kuma checks. With --checks, pass kuma.db from its data folder instead.`,
    );
  const [, base = place, inPath] = /^(.*?)\/status\/([^/?#]+)\/?$/.exec(place) ?? [];
  const slug = options.statusPage ?? inPath;
  if (slug === undefined)
    throw new UsageError(
      `${place} is not the address of a status page. Pass one such as ${base.replace(/\/$/, '')}/status/default.`,
    );
  const url = base.replace(/\/+$/, '');
  return askingAt(url, options, (ask) => kumaFromApi(ask, { url, slug }));
}

function kumaIn(place: string, { statusPage }: ImportOptions): ReturnType<typeof kumaFromDatabase> {
  if (!isDatabase(place))
    throw new UsageError(
      `${place} is not an SQLite database. Pass kuma.db from the data folder. Backup files (JSON) of version 1 have no status pages. With MariaDB, pass the address of the page.`,
    );
  return databaseAt(place, 'Uptime Kuma', (select) => kumaFromDatabase(select, statusPage));
}

/** Configurations, a database, an address: what they tell adds up. */
export async function importGatus(places: readonly string[], options: ImportOptions): Promise<number> {
  const context = contextOf(options);
  const parts: GatusPart[] = [];
  for (const place of places) parts.push(await gatusPart(place, options));
  return writeImport(gatusSite(parts, context), context, options);
}

async function gatusPart(place: string, options: ImportOptions): Promise<GatusPart> {
  if (isAddress(place)) return askingAt(place, options, (ask) => gatusFromApi(ask, place.replace(/\/+$/, '')));
  if (isDatabase(place)) return databaseAt(place, 'Gatus', (select) => gatusFromDatabase(select, nameOf(place)));
  return gatusConfig(nameOf(place), yamlOf(place));
}

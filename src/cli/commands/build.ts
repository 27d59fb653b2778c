import { resolve } from 'node:path';
import { writeStaticSite } from '../../publish/static-site.ts';
import { compose } from '../compose.ts';
import { EXIT_DONE, EXIT_FAILED } from '../exit.ts';
import { createLog } from '../log.ts';
import { createProgress } from '../progress.ts';
import { runText } from '../report-text.ts';
import { print, requireConfig } from './common.ts';

export interface BuildOptions {
  readonly config?: string;
  readonly out: string;
  readonly offline?: boolean;
  /** Password pages become one encrypted file each. */
  readonly sealed?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** One pass (none when offline), everything published, and the public files written as a site for any static host. */
export async function build(options: BuildOptions): Promise<number> {
  const config = requireConfig(options.config);
  const isQuiet = options.quiet ?? options.json ?? false;
  const log = createLog({ isQuiet, secrets: config.secrets });
  const progress = createProgress(isQuiet);
  const pharos = await compose(config, { log, isPublishing: true, printsMail: false, progress });
  try {
    const report = await pharos.engine.run({
      trigger: 'command',
      ...(options.offline === true ? { upstreams: [] } : {}),
    });
    await pharos.publisher?.settled();
    const folder = resolve(options.out);
    const passwords =
      options.sealed === true ? config.pages.filter(({ access_type }) => access_type === 'password') : [];
    const sealed = new Map(
      passwords.flatMap(({ slug, password, locale }) =>
        password === undefined ? [] : [[slug, { password, locale: locale ?? config.site.locale }] as const],
      ),
    );
    const written = await writeStaticSite(pharos.folders, { folder, sealed });
    progress.end();
    print(
      options.json === true,
      { ...report, out: { folder, ...written } },
      `${runText(report)}\n${written.filesWritten} files written, ${written.filesKept} unchanged, ${written.filesRemoved} removed in ${folder}`,
    );
    return report.hasFailed ? EXIT_FAILED : EXIT_DONE;
  } finally {
    progress.end();
    await pharos.close();
  }
}

/** Which way to run Pharos there are to be files for. */

import { didYouMean } from '../../schema/nearest.ts';
import { UsageError } from '../terminal/exit.ts';
import type { Asker } from './asker.ts';
import { DEPLOYMENTS, type Deployment, faultOfTaken, plannedFiles } from './deployment.ts';

/**
 * The way that the command line names, else the one that is answered. Its files may not be there yet: that is told before
 * anything else is asked, so that no answer is given for nothing.
 *
 * @param file   path of the configuration
 * @param asker  null: there is nobody to ask
 * @throws UsageError for one that there is not, or whose files are there
 */
export async function chooseDeployment(
  given: string | undefined,
  { file, asker }: { readonly file: string; readonly asker: Asker | null },
): Promise<Deployment> {
  const faultOf = (name: string): string | null =>
    isDeployment(name)
      ? faultOfTaken(plannedFiles({ file, deployment: name, posts: null, source: null, variables: [], siteUrl: '' }))
      : `Unknown template "${name}". Use one of: ${DEPLOYMENTS.join(', ')}.${didYouMean(name, new Set(DEPLOYMENTS))}`;
  const words = `How do you want to run it? Pharos creates the files for that (${DEPLOYMENTS.join(', ')})`;
  const answer = given ?? (await asker?.ask(words, 'none', faultOf)) ?? 'none';
  const fault = faultOf(answer);
  if (fault !== null || !isDeployment(answer)) throw new UsageError(`--deploy: ${fault}`);
  return answer;
}

function isDeployment(name: string): name is Deployment {
  return DEPLOYMENTS.some((one) => one === name);
}

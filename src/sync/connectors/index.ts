/** The registry of connectors: the configuration, `pharos init`, the documents and the contract tests follow from it. */

import type { Connector } from '../connector.ts';
import { backupControlPlane } from './backup-control-plane/connector.ts';
import { ownChecks } from './checks/connector.ts';
import { customerJourneys } from './customer-journeys/connector.ts';
import { gatus } from './gatus/connector.ts';
import { healthchecks } from './healthchecks/connector.ts';
import { markdown } from './markdown/connector.ts';
import { prometheus } from './prometheus/connector.ts';
import { serverMonitor } from './server-monitor/connector.ts';
import { statuspage } from './statuspage/connector.ts';
import { terraform } from './terraform/connector.ts';
import { uptimeKuma } from './uptime-kuma/connector.ts';
import { uptimeService } from './uptime-service/connector.ts';
import { uptimerobot } from './uptimerobot/connector.ts';

/** A connector whose options are only known when the configuration is read. */
export type AnyConnector = Connector<never>;

/** Safe as long as `pull` and `probe` are only given what this connector's own `optionsSchema` returned. */
function erased<Options>(connector: Connector<Options>): AnyConnector {
  return connector as unknown as AnyConnector;
}

export const CONNECTORS: readonly AnyConnector[] = [
  erased(serverMonitor),
  erased(uptimeService),
  erased(backupControlPlane),
  erased(customerJourneys),
  erased(terraform),
  erased(markdown),
  erased(statuspage),
  erased(prometheus),
  erased(uptimeKuma),
  erased(gatus),
  erased(healthchecks),
  erased(uptimerobot),
  erased(ownChecks),
];

/** The connector of a kind from the configuration. */
export function connectorOf(kind: string): AnyConnector {
  const found = CONNECTORS.find((connector) => connector.kind === kind);
  if (found === undefined) throw new Error(`there is no connector of the kind ${kind}`);
  return found;
}

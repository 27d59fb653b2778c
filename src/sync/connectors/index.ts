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

/** Erasing the types of options is safe as long as a connector is only given what its own `optionsSchema` returned. */
export const CONNECTORS = [
  serverMonitor,
  uptimeService,
  backupControlPlane,
  customerJourneys,
  terraform,
  markdown,
  statuspage,
  prometheus,
  uptimeKuma,
  gatus,
  healthchecks,
  uptimerobot,
  ownChecks,
] as unknown as readonly AnyConnector[];

/** The connector of a kind from the configuration. */
export function connectorOf(kind: string): AnyConnector {
  const found = CONNECTORS.find((connector) => connector.kind === kind);
  if (found === undefined) throw new Error(`there is no connector of the kind ${kind}`);
  return found;
}

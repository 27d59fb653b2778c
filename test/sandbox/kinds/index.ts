/** What each kind brings to the sandbox. Loaded by the sandbox only: connectors know nothing of it. */

import type { SandboxKind } from '../kind.ts';
import { backupControlPlaneSandbox } from './backup-control-plane/sandbox.ts';
import { customerJourneysSandbox } from './customer-journeys.ts';
import { gatusSandbox } from './gatus.ts';
import { healthchecksSandbox } from './healthchecks.ts';
import { prometheusSandbox } from './prometheus.ts';
import { serverMonitorSandbox } from './server-monitor.ts';
import { statuspageSandbox } from './statuspage.ts';
import { terraformSandbox } from './terraform/sandbox.ts';
import { uptimeKumaSandbox } from './uptime-kuma.ts';
import { uptimeServiceSandbox } from './uptime-service/sandbox.ts';
import { uptimerobotSandbox } from './uptimerobot.ts';

export const SANDBOXES: readonly SandboxKind[] = [
  serverMonitorSandbox(),
  uptimeServiceSandbox,
  backupControlPlaneSandbox,
  customerJourneysSandbox(),
  terraformSandbox,
  statuspageSandbox,
  prometheusSandbox,
  uptimeKumaSandbox,
  gatusSandbox,
  healthchecksSandbox,
  uptimerobotSandbox,
];

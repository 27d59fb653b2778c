/** What each kind brings to the sandbox. Loaded by the sandbox only: connectors know nothing of it. */

import type { SandboxKind } from '../../sandbox/kind.ts';
import { backupControlPlaneSandbox } from './backup-control-plane/sandbox.ts';
import { customerJourneysSandbox } from './customer-journeys/sandbox.ts';
import { gatusSandbox } from './gatus/sandbox.ts';
import { healthchecksSandbox } from './healthchecks/sandbox.ts';
import { prometheusSandbox } from './prometheus/sandbox.ts';
import { serverMonitorSandbox } from './server-monitor/sandbox.ts';
import { statuspageSandbox } from './statuspage/sandbox.ts';
import { terraformSandbox } from './terraform/sandbox.ts';
import { uptimeKumaSandbox } from './uptime-kuma/sandbox.ts';
import { uptimeServiceSandbox } from './uptime-service/sandbox.ts';
import { uptimerobotSandbox } from './uptimerobot/sandbox.ts';

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

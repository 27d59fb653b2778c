import type { PageMaintenance } from '../../../model/index.ts';
import type { PageAge, PageFrame, Settled } from '../../../views/frame/page-frame.ts';
import { maintenanceView } from '../../../views/incident/maintenance.ts';
import { htmlKind } from '../file-kind.ts';

export type MaintenanceInputs = (PageAge | Settled) & {
  readonly frame: PageFrame;
  readonly maintenance: PageMaintenance;
};

export const MAINTENANCE = htmlKind(
  import.meta.url,
  'maintenance',
  ({ frame, maintenance, ...age }: MaintenanceInputs) => maintenanceView({ ...frame, ...age }, maintenance),
);

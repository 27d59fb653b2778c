import { galleryChoices } from '../../../badges/kinds.ts';
import type { ComponentModel, PageIncident, PageMaintenance } from '../../../model/index.ts';
import { componentView } from '../../../views/component/component.ts';
import type { PageAge, PageFrame } from '../../../views/frame/page-frame.ts';
import { htmlKind } from '../file-kind.ts';

export interface ComponentInputs {
  readonly frame: PageFrame;
  readonly age: PageAge;
  readonly component: ComponentModel;
  /** Those that are about the component. */
  readonly incidents: readonly PageIncident[];
  readonly maintenances: readonly PageMaintenance[];
  /** Names of the badges that components have, as in their addresses. */
  readonly badges: readonly string[];
}

export const COMPONENT = htmlKind(
  import.meta.url,
  'component',
  ({ frame, age, component, incidents, maintenances, badges }: ComponentInputs) =>
    componentView({ ...frame, ...age, incidents, maintenances }, component, {
      badges: galleryChoices(badges, frame.settings.locale).kinds,
    }),
);

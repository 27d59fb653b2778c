/** One maintenance on its own page: when, what of, what is said of it. */

import type { PageMaintenance } from '../../model/index.ts';
import { monthOf } from '../days/months.ts';
import type { PageAge, PageFrame, Settled } from '../frame/page-frame.ts';
import { buildShell, createContext, type LinkView, linkTo, type ShellView, type ViewOptions } from '../frame/shell.ts';
import { componentPath, historyPath, maintenancePath } from '../text/addresses.ts';
import { ruleText } from '../text/format.ts';
import { type EventView, maintenanceEvent } from './events.ts';

export interface MaintenanceView {
  readonly shell: ShellView;
  readonly event: EventView;
  /** How it comes back, in words; null: it does not. */
  readonly repeats: string | null;
  readonly affected: readonly LinkView[];
  readonly month: LinkView;
  readonly calendarHref: string;
}

/** @param model  settled once the maintenance is over; before that its page follows the clock */
export function maintenanceView(
  model: PageFrame & (PageAge | Settled),
  maintenance: PageMaintenance,
  options: ViewOptions = {},
): MaintenanceView {
  const context = createContext(model, { base: '../../', ...options });
  const { format, base } = context;
  const event = maintenanceEvent(context, maintenance, { hasYear: true });
  const month = monthOf(maintenance.startsAt, model.settings.timezone);
  return {
    shell: buildShell(context, {
      title: maintenance.title,
      description: [event.statusWord, event.affects].filter(Boolean).join('. '),
      path: maintenancePath(maintenance.slug),
      section: 'history',
      present:
        maintenance.status === 'completed' || model.staleAfter === null
          ? null
          : { ...model, state: 'maintenance', since: null },
    }),
    event,
    repeats: maintenance.repeats === null ? null : ruleText(maintenance.repeats, context.locale),
    affected: model.components
      .filter((one) => maintenance.componentIds.includes(one.definition.id))
      .map((one) => linkTo(one, base + componentPath(one.definition.id))),
    month: { href: base + historyPath(month), text: format.month(month) },
    calendarHref: `${base}maintenance.ics`,
  };
}

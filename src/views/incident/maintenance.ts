/** One maintenance on its own page: when, what of, what is said of it. */

import type { PageMaintenance } from '../../model/index.ts';
import { monthOf } from '../days/months.ts';
import type { PageAge, PageFrame, Settled } from '../frame/page-frame.ts';
import { buildShell, createContext, linkTo } from '../frame/shell.ts';
import { componentPath, historyPath, maintenancePath } from '../text/addresses.ts';
import { ruleText } from '../text/format.ts';
import { maintenanceEvent } from './events.ts';

/** @param model  settled once the maintenance is over; before that its page follows the clock */
export function maintenanceView(model: PageFrame & (PageAge | Settled), maintenance: PageMaintenance) {
  const context = createContext(model, '../../');
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
    // How it comes back, in words; null: it does not.
    repeats: maintenance.repeats === null ? null : ruleText(maintenance.repeats, context.locale),
    affected: model.components
      .filter((one) => maintenance.componentIds.includes(one.definition.id))
      .map((one) => linkTo(one, base + componentPath(one.definition.id))),
    month: { href: base + historyPath(month), text: format.month(month) },
    calendarHref: `${base}maintenance.ics`,
  };
}

import type { ComponentModel, EpochMs, State } from '../../../model/index.ts';
import type { IncidentHead } from '../../../views/days/day-notes.ts';
import type { PageAge, PageFrame } from '../../../views/frame/page-frame.ts';
import { uptimeCalendarView } from '../../../views/history/uptime-calendar.ts';
import { htmlKind } from '../file-kind.ts';

export interface CalendarInputs {
  readonly frame: PageFrame;
  readonly age: PageAge;
  readonly state: State;
  /** When it came into that state. */
  readonly since: EpochMs | null;
  readonly components: readonly ComponentModel[];
  readonly incidents: readonly IncidentHead[];
}

export const UPTIME_CALENDAR = htmlKind(import.meta.url, 'uptime-calendar', ({ frame, age, ...page }: CalendarInputs) =>
  uptimeCalendarView({ ...frame, ...age, ...page }),
);

import { calendarText } from '../calendar-text.ts';
import { fileKind } from '../file-kind.ts';

export const CALENDAR = fileKind(
  import.meta.url,
  { name: 'calendar', contentType: 'text/calendar; charset=utf-8' },
  calendarText,
);

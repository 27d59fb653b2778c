/** The configuration of an export. */

import { z } from 'zod';
import { HttpUrlSchema, IdSchema, TimezoneSchema } from '../schema/scalars.ts';

/** Ends with a UTC offset. */
const ZONED = /[zZ]|[+-]\d{2}:?\d{2}$/;
const InstantSchema = z
  .string()
  .refine(
    (text) => parses(() => Temporal.Instant.from(text)),
    'expected a time with a UTC offset, such as 2026-11-02T09:00:00+01:00',
  )
  .transform((text) => Temporal.Instant.from(text).epochMilliseconds);
const EmployeeSchema = z.int().positive();

const ShiftSchema = z
  .strictObject({
    employee: EmployeeSchema.describe('Employee number in that system.'),
    from: InstantSchema.describe('Start time with UTC offset.'),
    to: InstantSchema.describe('End time with UTC offset.'),
  })
  .refine((shift) => shift.from < shift.to, { path: ['to'], error: 'a shift must end after it starts' });

const RotationSchema = z.strictObject({
  employees: z.array(EmployeeSchema).min(1).describe('People who take turns, in this order.'),
  startsAt: z
    .string()
    .refine(
      (text) => parses(() => Temporal.PlainDateTime.from(text)) && !ZONED.test(text),
      'expected a local date and time, such as 2026-01-05T09:00',
    )
    .describe('Start of the first turn, in the time zone.'),
  everyDays: z.int().min(1).max(366).default(7).describe('Length of a turn, in calendar days.'),
  timezone: TimezoneSchema.default('UTC').describe(
    'Time zone of the handover; it stays at the same local time across daylight saving changes.',
  ),
});

/** Who is on call: individual shifts, and a rotation for the rest of the time. */
export const RotaSchema = z
  .strictObject({
    shifts: z.array(ShiftSchema).default([]).describe('Individual shifts; they take precedence over the rotation.'),
    rotation: RotationSchema.optional().describe('Who is on call the rest of the time.'),
  })
  .refine((rota) => rota.shifts.length > 0 || rota.rotation !== undefined, {
    error: 'a rota needs shifts, a rotation, or both',
  });
export type Rota = z.output<typeof RotaSchema>;

export const PayrollOptionsSchema = z.strictObject({
  id: IdSchema.describe('Identifies it in reports; part of its events’ ids.'),
  kind: z.literal('payroll-time-events').describe('On-call time as payroll time events.'),
  tenantBaseUrl: HttpUrlSchema.describe('Address of the tenant, without /api/v1.'),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .describe('Headers for authentication; secrets come from the environment.'),
  eventType: z.enum(['overtime', 'timesheet']).default('overtime').describe('Type of the events.'),
  payrollRunId: z.int().positive().optional().describe('Default: events wait for the next open run.'),
  minMinutes: z.number().min(0).default(0).describe('Incidents shorter than this don’t count as overtime.'),
  batchSize: z.int().min(1).max(500).default(100).describe('Maximum number of events in one request.'),
  rota: RotaSchema.describe('Who is on call; docs/exports.md.'),
});
/** One export of the configuration. */
export type PayrollOptions = z.output<typeof PayrollOptionsSchema>;

function parses(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

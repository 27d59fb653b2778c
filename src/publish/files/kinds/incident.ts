import type { PageIncident } from '../../../model/index.ts';
import type { PageAge, PageFrame, Settled } from '../../../views/frame/page-frame.ts';
import { incidentView } from '../../../views/incident/incident.ts';
import { htmlKind } from '../file-kind.ts';

export type IncidentInputs = (PageAge | Settled) & {
  readonly frame: PageFrame;
  readonly incident: PageIncident;
};

export const INCIDENT = htmlKind(import.meta.url, 'incident', ({ frame, incident, ...age }: IncidentInputs) =>
  incidentView({ ...frame, ...age }, incident),
);

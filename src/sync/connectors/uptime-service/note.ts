import type { Problem } from '../../../model/observation.ts';

/** Something that could not be read this time. */
export function note(place: string, message: string): Problem {
  return { kind: 'note', place, message };
}

/** What programs recognise an incident by, however many updates it has, and a notice by, however often it is sent. */

import { hash } from 'node:crypto';
import type { Notice } from '../notice.ts';

/** What a notice is recognised by, fit for a header. */
export function noticeKey({ id }: Notice): string {
  return /^[\w:/-]{1,120}$/.test(id) ? id : hash('sha256', id);
}

/** The same for all notices of one incident or maintenance, in plain characters, `max` of them at most. */
export function subjectKey({ subject }: Notice, max: number): string {
  const key = `pharos/${subject.id}`;
  return key.length <= max && /^[\w./:-]+$/.test(key) ? key : `pharos/${hash('sha256', subject.id)}`.slice(0, max);
}

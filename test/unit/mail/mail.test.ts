import { expect, it } from 'vitest';
import { handOver } from '../../../src/mail/mail.ts';

it.each([
  [{ code: 'ESOCKET', command: 'CONN' }, 'unreachable', 'can’t reach the mail server (ESOCKET); check access.smtp'],
  [{ code: 'ETIMEDOUT' }, 'unreachable', 'can’t reach the mail server (ETIMEDOUT); check access.smtp'],
  [{}, 'unreachable', 'can’t reach the mail server; check access.smtp'],
  [{ code: 'EAUTH', responseCode: 535 }, 'unreachable', 'the mail server answered 535; check access.smtp'],
  [{ responseCode: 553, command: 'MAIL FROM' }, 'unreachable', 'the mail server answered 553; check access.from'],
  [{ responseCode: 421, command: 'RCPT TO' }, 'unreachable', 'the mail server answered 421; check access.smtp'],
  [{ responseCode: 450, command: 'RCPT TO' }, 'postponed', 'the mail server answered 450 for this recipient'],
  [{ responseCode: 550, command: 'RCPT TO' }, 'rejected', 'the mail server answered 550 for this recipient'],
  [{ responseCode: 552, command: 'DATA' }, 'rejected', 'the mail server answered 552 for this recipient'],
])('%j is %s', async (facts, outcome, reason) => {
  const error = Object.assign(new Error('<anna@mail.example> does not exist here'), facts);
  const mail = { to: 'anna@mail.example', subject: '', text: '' };
  expect(await handOver(() => Promise.reject(error), mail)).toMatchObject({ outcome, reason });
});

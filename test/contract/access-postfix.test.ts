import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseEmailAddress } from '../../src/mail/mail.ts';
import { createSmtpMailer } from '../../src/mail/mailer.ts';
import { eventually } from '../helpers/pharos.ts';
import { POSTFIX_MISSING, type Postfix, startPostfix } from '../helpers/postfix.ts';

/** Ways to write an address at an allowed domain that some mail server has read as an address elsewhere. */
const SPELLINGS = [
  'attacker%evil.test',
  'evil.test!attacker',
  'a!evil.test!attacker',
  'attacker%evil.test%corp.example',
  '@evil.test:attacker',
  '"attacker@evil.test"',
  '=?utf-8?q?attacker=40evil.test=3e?=',
  '=?us-ascii?B?YXR0YWNrZXJAZXZpbC50ZXN0?=',
  'attacker\\@evil.test',
  'attacker|evil',
  'attacker`id`',
  '$(id)',
  '-froot',
  'attacker/evil',
  'attacker#evil.test',
  '{attacker}',
];

describe('the local part of an address', () => {
  it.each(SPELLINGS)('%s is refused', (local) => {
    expect(parseEmailAddress(`${local}@corp.example`)).toBeNull();
  });

  it.each(['first.last', 'first+tag', 'first_last', 'first-last', "o'brien", 'x1'])('%s is taken', (local) => {
    expect(parseEmailAddress(`${local}@corp.example`)?.local).toBe(local);
  });
});

describe.skipIf(POSTFIX_MISSING !== null)(
  `a mail server with Postfix's defaults (${POSTFIX_MISSING ?? 'here'})`,
  () => {
    const recipients: string[] = [];
    const sink = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onRcptTo: ({ address }, _session, done) => {
        recipients.push(address);
        done();
      },
      onData: (stream, _session, done) => {
        stream.resume();
        stream.on('end', done);
      },
    });
    let postfix: Postfix;

    beforeAll(async () => {
      sink.listen(0, '127.0.0.1');
      await once(sink.server, 'listening');
      postfix = await startPostfix((sink.server.address() as AddressInfo).port);
    });
    afterAll(async () => {
      postfix?.stop();
      await new Promise((resolve) => sink.close(() => resolve(undefined)));
    });

    it('delivers everything that is taken to the domain that was allowed', async () => {
      const send = createSmtpMailer({
        url: `smtp://127.0.0.1:${postfix.port}?ignoreTLS=true`,
        from: 'status@pharos.example',
      });
      const characters = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
      const locals = [
        ...SPELLINGS,
        // Every printable character inside a word, at its beginning and at its end.
        ...characters.flatMap((one) => [`x${one}evil.test`, `${one}evil.test`, `evil.test${one}`]),
      ];
      const taken = locals.flatMap((local) => parseEmailAddress(`${local}@corp.example`)?.address ?? []);
      expect(taken.length).toBeGreaterThan(100);
      for (const to of taken) await send({ to, subject: 'Sign in', text: 'x' });
      await eventually(
        async () => recipients.length,
        (count) => count >= taken.length,
      );
      expect(recipients.filter((address) => !address.endsWith('@corp.example'))).toEqual([]);
      expect(recipients.toSorted()).toEqual(taken.toSorted());
    });
  },
);

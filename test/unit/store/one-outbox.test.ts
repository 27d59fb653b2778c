import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { migrationsAfter } from '../../../src/store/migrations.ts';
import { makeTables } from '../../../src/store/sqlite/file.ts';

it('what three queues owed is in the one outbox after an upgrade', () => {
  const connection = new DatabaseSync(':memory:');
  const migration = migrationsAfter(0).find(({ sql }) => sql().includes('RENAME TO outbox'));
  makeTables(connection, (migration?.version ?? 0) - 1);
  connection.exec(`
    INSERT INTO notice VALUES ('n1', 'acme', 700, 710, 'queued', '', '{}');
    INSERT INTO notice_delivery VALUES ('email', 'anna', 'notice', 'n1', 'queued', NULL, 710, 720, 0, 2, 'busy');
    INSERT INTO export_batch VALUES ('key-1', 'payroll', 500, 3, 900, NULL, 'no answer'), ('key-0', 'payroll', 400, 1, 400, 450, NULL);
    INSERT INTO export_event VALUES
      ('payroll', 'sent', 'i0', '{"a":1}', 'sent', 'key-0', 0, NULL, 400, 450),
      ('payroll', 'tried', 'i1', '{}', 'queued', 'key-1', 0, NULL, 490, NULL),
      ('payroll', 'new', 'i2', '{}', 'queued', NULL, NULL, NULL, 600, NULL),
      ('payroll', 'refused', 'i3', '{}', 'rejected', 'key-0', 1, 'unknown', 400, 450);
    INSERT INTO access_challenge (id, slug, version, nonce_hash, return_to, attempt, expires_at, used_at, address, mail_after) VALUES
      ('owed', 'team', 'v', 'h', '', 't', 2000, NULL, 'a@corp.example', 800),
      ('sent', 'team', 'v', 'h', '', 't', 2000, NULL, NULL, 800);
  `);
  connection.exec(migration?.sql() ?? '');
  const rows = connection
    .prepare(
      'SELECT channel, recipient, kind, item, state, batch, due_at, attempts, reason, sort_at, ended_at FROM outbox ORDER BY channel, item',
    )
    .all()
    .map((row) => Object.values(row));
  expect(rows).toEqual([
    ['email', 'anna', 'notice', 'n1', 'queued', null, 720, 2, 'busy', 700, null],
    ['export:payroll', '', 'event', 'new', 'queued', null, 600, 0, null, 0, null],
    ['export:payroll', '', 'event', 'refused', 'rejected', 'key-0', 400, 1, 'unknown', 0, 450],
    ['export:payroll', '', 'event', 'sent', 'sent', 'key-0', 400, 1, null, 0, 450],
    ['export:payroll', '', 'event', 'tried', 'queued', 'key-1', 900, 3, 'no answer', 0, null],
    ['mail:sign-in', 'owed', 'sign-in', 'owed', 'queued', null, 800, 0, null, 0, null],
  ]);
  expect(connection.prepare('SELECT * FROM export_event WHERE id = ?').get('sent')).toMatchObject({
    export: 'payroll',
    incident: 'i0',
    document: '{"a":1}',
  });
});

-- One outbox for all that is sent: notices and links for subscribers, sign-in mails, and events of exports.

ALTER TABLE notice_delivery RENAME TO outbox;
ALTER TABLE outbox RENAME COLUMN notice TO item;   -- id of a notice, of a request for a link or to sign in, or of an event
ALTER TABLE outbox ADD COLUMN sort_at BIGINT NOT NULL DEFAULT 0;   -- a recipient gets the lowest first
ALTER TABLE outbox ADD COLUMN ended_at BIGINT;
UPDATE outbox SET sort_at = COALESCE((SELECT at FROM notice WHERE notice.id = outbox.item), 0);
DROP INDEX notice_delivery_due;
DROP INDEX notice_delivery_created;
CREATE INDEX outbox_due ON outbox (channel, state, due_at);
CREATE INDEX outbox_created ON outbox (state, created_at);
CREATE INDEX outbox_item ON outbox (item);

INSERT INTO outbox (channel, recipient, kind, item, state, batch, created_at, due_at, claimed_until, attempts, reason, ended_at)
SELECT 'export:' || event.export, '', 'event', event.id, event.state, event.batch, event.queued_at,
       COALESCE(batch.next_at, event.queued_at), 0, COALESCE(batch.attempts, 0),
       COALESCE(event.reason, batch.last_error), event.ended_at
FROM export_event AS event LEFT JOIN export_batch AS batch ON batch.key = event.batch;
DROP TABLE export_batch;
DROP INDEX export_event_state;
ALTER TABLE export_event DROP COLUMN state;
ALTER TABLE export_event DROP COLUMN batch;
ALTER TABLE export_event DROP COLUMN position;
ALTER TABLE export_event DROP COLUMN reason;
ALTER TABLE export_event DROP COLUMN queued_at;
ALTER TABLE export_event DROP COLUMN ended_at;

INSERT INTO outbox (channel, recipient, kind, item, state, created_at, due_at, claimed_until, attempts)
SELECT 'mail:sign-in', id, 'sign-in', id, 'queued', mail_after, mail_after, 0, mail_tries
FROM access_challenge WHERE address IS NOT NULL AND used_at IS NULL;
ALTER TABLE access_challenge DROP COLUMN mail_tries;
ALTER TABLE access_challenge DROP COLUMN mail_after;

-- With an index by state, SQLite looked for a recipient's other rows by reading all that wait.
DROP INDEX outbox_due;
DROP INDEX outbox_created;
CREATE INDEX outbox_due ON outbox (channel, due_at) WHERE state = 'queued';
CREATE INDEX outbox_created ON outbox (created_at);

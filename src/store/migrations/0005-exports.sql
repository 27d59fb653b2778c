-- What is sent out, remembered so that nothing is sent twice and every refusal is told.

CREATE TABLE export (
  id TEXT PRIMARY KEY,
  since_at BIGINT NOT NULL         -- only incidents that end after this are exported; when it was first configured
);

CREATE TABLE export_batch (
  key TEXT PRIMARY KEY,            -- the Idempotency-Key, the same at every attempt
  export TEXT NOT NULL,
  made_at BIGINT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at BIGINT NOT NULL,
  done_at BIGINT,                  -- null while it has not been taken
  last_error TEXT
);

CREATE TABLE export_event (
  export TEXT NOT NULL,
  id TEXT NOT NULL,                -- external_event_id
  incident TEXT NOT NULL,
  document TEXT NOT NULL,
  state TEXT NOT NULL,             -- queued, sent, rejected
  batch TEXT,
  position INTEGER,                -- in its batch
  reason TEXT,                     -- of a rejection, in the receiver's words
  queued_at BIGINT NOT NULL,
  ended_at BIGINT,                 -- when it was sent or rejected
  PRIMARY KEY (export, id)
);
CREATE INDEX export_event_state ON export_event (export, state);

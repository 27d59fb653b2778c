-- What operators write: posts as the markdown connector reads them from files, and read by a pass like any other upstream.
CREATE TABLE written (
  id TEXT PRIMARY KEY,             -- written/<id> is the story
  page TEXT NOT NULL,              -- slug of the page it was written on; empty: all of them
  version BIGINT NOT NULL,         -- grows with every change
  document TEXT NOT NULL,          -- the post, as JSON
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  actor TEXT NOT NULL,             -- who changed it last, as in the audit
  deleted_at BIGINT                -- null: it is there
);
CREATE INDEX written_page ON written (page, created_at);
CREATE INDEX written_deleted ON written (deleted_at);

-- Requests that carried an Idempotency-Key, so that one sent again does nothing again.
CREATE TABLE written_request (
  actor TEXT NOT NULL,
  request_key TEXT NOT NULL,
  digest TEXT NOT NULL,            -- of all that was asked for
  post TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (actor, request_key)
);
CREATE INDEX written_request_at ON written_request (at);

-- Alerts by the key of their sender: which incident each is, and what was heard of it last.
CREATE TABLE written_alert (
  intake TEXT NOT NULL,
  alert_key TEXT NOT NULL,
  post TEXT,                       -- null: it was resolved before it was heard of
  state TEXT NOT NULL,             -- firing, resolved
  told_at BIGINT,                  -- when that began or ended, by the sender's clock; null: it does not tell
  changed_at BIGINT NOT NULL,
  PRIMARY KEY (intake, alert_key)
);
CREATE INDEX written_alert_changed ON written_alert (changed_at);

-- Who may write over HTTP. The token itself is shown once and is nowhere.
CREATE TABLE api_token (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  scopes TEXT NOT NULL,            -- JSON array of words
  page TEXT NOT NULL,              -- slug
  created_at BIGINT NOT NULL,
  expires_at BIGINT,               -- null: never
  revoked_at BIGINT                -- null: it is in force
);
CREATE UNIQUE INDEX api_token_hash ON api_token (hash);

-- Who made Pharos do what, and who is signed in as an operator. Client addresses are stored as keyed hashes only.

CREATE TABLE audit (
  id TEXT PRIMARY KEY,
  at BIGINT NOT NULL,
  actor TEXT NOT NULL,             -- operator, hook:<upstream>, command:<account>, signal
  action TEXT NOT NULL,
  subject TEXT,                    -- the page or upstream it was about; null: all of them
  client TEXT,                     -- keyed hash of the client's address; null: this machine
  run TEXT,                        -- the run that it began or joined
  outcome TEXT                     -- in words; null while the run has not ended
);
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_run ON audit (run);

CREATE TABLE sign_in_count (
  day TEXT NOT NULL,               -- UTC
  page TEXT NOT NULL,              -- slug; '' where there is no such page
  result TEXT NOT NULL,            -- signed_in, refused, limited
  count INTEGER NOT NULL,
  PRIMARY KEY (day, page, result)
);

CREATE TABLE operator_session (
  id_hash TEXT PRIMARY KEY,
  is_secure INTEGER NOT NULL,      -- 1: only a __Host- cookie stands for it
  token_print TEXT NOT NULL,       -- of the operator token it was exchanged for; another token ends it
  seen_at BIGINT NOT NULL,
  until_at BIGINT NOT NULL
);

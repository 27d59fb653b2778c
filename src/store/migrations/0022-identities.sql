-- Who is signed in by an identity provider. Accounts are found by keyed hashes; what the provider says of them is encrypted.
CREATE TABLE access_identity (
  id TEXT PRIMARY KEY,
  issuer TEXT NOT NULL,
  client_id TEXT NOT NULL,
  subject_hash TEXT NOT NULL,
  sid_hash TEXT,                   -- of the session at the provider; null: it names none
  facts TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  read_at BIGINT NOT NULL          -- when the provider was last asked
);
CREATE INDEX access_identity_subject ON access_identity (subject_hash);

ALTER TABLE access_grant ADD COLUMN identity TEXT;       -- null: nobody vouches for the visitor
ALTER TABLE operator_session ADD COLUMN credential TEXT NOT NULL DEFAULT 'operator';

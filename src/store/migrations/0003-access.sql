-- Gates. Tokens, codes, nonces and client addresses are stored as hashes only; passwords as argon2id.

CREATE TABLE access_gate (
  slug TEXT PRIMARY KEY,
  kind TEXT NOT NULL,              -- password, email-domain
  secret TEXT NOT NULL,            -- argon2id string, or the sorted domains as JSON
  version TEXT NOT NULL            -- random, new whenever kind or secret changes
);

CREATE TABLE access_session (
  id_hash TEXT PRIMARY KEY,
  is_secure INTEGER NOT NULL,      -- 1: only a __Host- cookie stands for it
  seen_at BIGINT NOT NULL
);

CREATE TABLE access_grant (
  session TEXT NOT NULL,
  slug TEXT NOT NULL,
  version TEXT NOT NULL,
  until_at BIGINT NOT NULL,
  PRIMARY KEY (session, slug)
);
CREATE INDEX access_grant_slug ON access_grant (slug);
CREATE INDEX access_grant_until ON access_grant (until_at);

CREATE TABLE access_attempt (
  attempt TEXT NOT NULL,
  bucket TEXT NOT NULL,
  at BIGINT NOT NULL
);
CREATE INDEX access_attempt_bucket ON access_attempt (bucket, at);
CREATE INDEX access_attempt_attempt ON access_attempt (attempt);
CREATE INDEX access_attempt_at ON access_attempt (at);

CREATE TABLE access_challenge (
  id TEXT PRIMARY KEY,
  slug TEXT NOT NULL,
  version TEXT NOT NULL,           -- of the gate when it was asked
  nonce_hash TEXT NOT NULL,        -- of the asking browser's cookie
  token_hash TEXT,                 -- null until a mail goes out
  code_hash TEXT,
  tries INTEGER NOT NULL DEFAULT 0,
  return_to TEXT NOT NULL,
  attempt TEXT NOT NULL,           -- counted when it was asked, forgiven when it is answered
  expires_at BIGINT NOT NULL,
  used_at BIGINT,
  address TEXT,                    -- only while a mail is owed
  mail_tries INTEGER NOT NULL DEFAULT 0,
  mail_after BIGINT NOT NULL       -- next try; also the claim of the process that tries
);
CREATE INDEX access_challenge_token ON access_challenge (token_hash);
CREATE INDEX access_challenge_nonce ON access_challenge (nonce_hash);
CREATE INDEX access_challenge_expires ON access_challenge (expires_at);

CREATE TABLE access_badge_token (
  id TEXT PRIMARY KEY,
  slug TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL
);

CREATE TABLE access_salt (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

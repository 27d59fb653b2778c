-- The signed log of each page, under the page's key: its lines, what the next one needs, and what it says of days.
CREATE TABLE log_key (
  -- The public part, as signed notes write it.
  verifier TEXT PRIMARY KEY,
  -- The private part, encrypted; null: it is in the configuration.
  sealed TEXT,
  made_at BIGINT NOT NULL
);
CREATE TABLE page_log (
  page TEXT PRIMARY KEY,
  origin TEXT NOT NULL,
  size BIGINT NOT NULL,
  frontier TEXT NOT NULL,
  -- Digest of the news that was entered last, and the revision of the store that it was made from.
  event TEXT NOT NULL,
  revision BIGINT NOT NULL,
  -- The last UTC day that is closed; empty: none.
  through TEXT NOT NULL,
  -- Digest of what was said of closed days last.
  days TEXT NOT NULL,
  verifier TEXT NOT NULL
);
CREATE TABLE log_entry (
  page TEXT NOT NULL,
  n BIGINT NOT NULL,
  line TEXT NOT NULL,
  -- Root of the tree that ends with this line; null: no checkpoint can have signed it.
  root TEXT,
  PRIMARY KEY (page, n)
);
CREATE TABLE log_day (
  page TEXT NOT NULL,
  component TEXT NOT NULL,
  day TEXT NOT NULL,
  -- Null: nothing is known by now.
  figures TEXT,
  corrected_at BIGINT,
  PRIMARY KEY (page, component, day)
);
-- What was seen of other sites: pages that this one watches, and its own witnesses.
CREATE TABLE witness_record (
  kind TEXT NOT NULL,
  url TEXT NOT NULL,
  at BIGINT NOT NULL,
  -- Null: it could not be reached.
  text TEXT,
  -- The last head of a log that agreed.
  head TEXT,
  PRIMARY KEY (kind, url)
);

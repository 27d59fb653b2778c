-- Who is told of incidents and maintenance, and what is owed to whom. Addresses of people are encrypted; they are found by keyed hash.

CREATE TABLE subscriber (
  id TEXT PRIMARY KEY,
  slug TEXT NOT NULL,
  address_hash TEXT NOT NULL,
  address TEXT NOT NULL,           -- AES-256-GCM, bound to the id
  state TEXT NOT NULL,             -- pending, active, paused
  components TEXT NOT NULL,        -- JSON array of ids; empty: all of the page
  gate TEXT NOT NULL,              -- version of the password that it was subscribed behind; empty: none
  created_at BIGINT NOT NULL,
  confirmed_at BIGINT,
  asked_at BIGINT NOT NULL,        -- when somebody asked last to be sent a link
  asked_count BIGINT NOT NULL,     -- of mails with a link while it is pending
  quiet_until BIGINT NOT NULL      -- what is due before then waits, and goes as one message
);
CREATE UNIQUE INDEX subscriber_address ON subscriber (slug, address_hash);
CREATE INDEX subscriber_page ON subscriber (slug, state, id);

-- What came in by the form, to be decided on once whoever asked has the answer.
CREATE TABLE subscriber_request (
  id TEXT PRIMARY KEY,
  slug TEXT NOT NULL,
  address TEXT NOT NULL,           -- as above; empty: nobody is written to
  components TEXT NOT NULL,
  gate TEXT NOT NULL,
  at BIGINT NOT NULL
);

-- Since when a page and a list of an upstream are known: what was there before is told to nobody.
CREATE TABLE notice_origin (
  origin TEXT PRIMARY KEY,
  since_at BIGINT NOT NULL
);

-- What the form of a page offers.
CREATE TABLE notice_page (
  slug TEXT PRIMARY KEY,
  components TEXT NOT NULL         -- JSON array of { id, name }
);

CREATE TABLE notice (
  id TEXT PRIMARY KEY,
  slug TEXT NOT NULL,
  at BIGINT NOT NULL,
  recorded_at BIGINT NOT NULL,
  state TEXT NOT NULL,             -- silent, new, queued, withdrawn
  reached TEXT NOT NULL,           -- the last subscriber it was queued for, while it is new
  document TEXT NOT NULL           -- JSON
);
CREATE INDEX notice_state ON notice (state, recorded_at);
CREATE INDEX notice_page_at ON notice (slug, at);

CREATE TABLE notice_delivery (
  channel TEXT NOT NULL,           -- email, or the id of a channel
  recipient TEXT NOT NULL,         -- id of a subscriber; empty: the channel itself
  kind TEXT NOT NULL,              -- notice, confirm, known
  notice TEXT NOT NULL,            -- id of the notice, or of the request
  state TEXT NOT NULL,             -- queued, sent, rejected, parked
  batch TEXT,                      -- of what goes as one message; never changes once it is there
  created_at BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  claimed_until BIGINT NOT NULL,   -- by the process that sends it
  attempts BIGINT NOT NULL,
  reason TEXT,
  PRIMARY KEY (channel, recipient, notice)
);
CREATE INDEX notice_delivery_due ON notice_delivery (channel, state, due_at);
CREATE INDEX notice_delivery_created ON notice_delivery (state, created_at);

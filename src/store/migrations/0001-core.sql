-- Instants are epoch milliseconds. Documents are JSON as written by rows.ts, read back through its schemas.

CREATE TABLE upstream (
  id TEXT PRIMARY KEY,
  monitors_at BIGINT,              -- last good answer to the list of states
  incidents_at BIGINT,
  maintenances_at BIGINT,
  pages_at BIGINT,
  is_backfilled INTEGER NOT NULL DEFAULT 0,
  definitions TEXT NOT NULL DEFAULT '[]',
  announcements TEXT NOT NULL DEFAULT '[]',
  held_hash TEXT                   -- monitors of a snapshot that lost more than half of them, held until seen twice
);

CREATE TABLE monitor (
  id TEXT PRIMARY KEY,
  upstream TEXT NOT NULL,
  state TEXT NOT NULL,
  document TEXT NOT NULL,
  first_seen_at BIGINT NOT NULL,
  gone_at BIGINT                   -- null while its upstream lists it
);
CREATE INDEX monitor_upstream ON monitor (upstream);

-- to_at null: open, and lasting to upstream.monitors_at. A pass without changes therefore writes one row.
CREATE TABLE span (
  monitor TEXT NOT NULL,
  from_at BIGINT NOT NULL,
  to_at BIGINT,
  state TEXT NOT NULL,
  PRIMARY KEY (monitor, from_at)
);
CREATE INDEX span_to ON span (to_at);

CREATE TABLE reported_span (
  monitor TEXT NOT NULL,
  from_at BIGINT NOT NULL,
  to_at BIGINT NOT NULL,
  state TEXT NOT NULL,
  PRIMARY KEY (monitor, from_at)
);

CREATE TABLE reported_day (
  monitor TEXT NOT NULL,
  day TEXT NOT NULL,
  operational INTEGER NOT NULL,
  degraded INTEGER NOT NULL,
  major_outage INTEGER NOT NULL,
  PRIMARY KEY (monitor, day)
);

CREATE TABLE detail (
  monitor TEXT PRIMARY KEY,
  fetched_at BIGINT NOT NULL,
  uptime TEXT                      -- UpstreamUptime or null
);

CREATE TABLE response_time (
  monitor TEXT NOT NULL,
  at BIGINT NOT NULL,
  ms REAL NOT NULL,
  PRIMARY KEY (monitor, at)
);

CREATE TABLE incident (
  id TEXT PRIMARY KEY,
  upstream TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  ended_at BIGINT,
  document TEXT NOT NULL,
  changed_at BIGINT NOT NULL
);
CREATE INDEX incident_ended ON incident (ended_at);

CREATE TABLE maintenance (
  id TEXT PRIMARY KEY,
  upstream TEXT NOT NULL,
  starts_at BIGINT NOT NULL,
  ends_at BIGINT NOT NULL,
  document TEXT NOT NULL,
  changed_at BIGINT NOT NULL,
  sequence INTEGER NOT NULL DEFAULT 0,  -- grows by one with every change, for calendars
  gone_at BIGINT                        -- taken back before it began
);
CREATE INDEX maintenance_ends ON maintenance (ends_at);

CREATE TABLE run (
  id TEXT PRIMARY KEY,
  started_at BIGINT NOT NULL,
  ended_at BIGINT NOT NULL,
  trigger_name TEXT NOT NULL,
  report TEXT NOT NULL
);
CREATE INDEX run_started ON run (started_at);

CREATE TABLE lease (
  name TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  until_at BIGINT NOT NULL,
  fence INTEGER NOT NULL
);

-- What an upstream takes back is withdrawn and kept; an id that it gives again is another story.

ALTER TABLE incident ADD COLUMN external_id TEXT NOT NULL DEFAULT '';  -- the id that its upstream gives it; an id given again has several rows
ALTER TABLE incident ADD COLUMN born_at BIGINT;                        -- tells those apart; null: not said
ALTER TABLE incident ADD COLUMN first_seen_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE incident ADD COLUMN missing_at BIGINT;                     -- a whole list did not hold it; the next such list withdraws it
ALTER TABLE incident ADD COLUMN withdrawn_at BIGINT;                   -- taken back upstream: kept, and shown nowhere
ALTER TABLE incident ADD COLUMN read_at BIGINT;                        -- its own text was asked for; null: it comes with a list
UPDATE incident SET external_id = id, first_seen_at = changed_at;
CREATE INDEX incident_external ON incident (upstream, external_id);

ALTER TABLE maintenance RENAME COLUMN gone_at TO withdrawn_at;
ALTER TABLE maintenance ADD COLUMN external_id TEXT NOT NULL DEFAULT '';
ALTER TABLE maintenance ADD COLUMN born_at BIGINT;
ALTER TABLE maintenance ADD COLUMN first_seen_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE maintenance ADD COLUMN missing_at BIGINT;
UPDATE maintenance SET external_id = id, first_seen_at = changed_at;
CREATE INDEX maintenance_external ON maintenance (upstream, external_id);

-- When a page, or a component of one, was first defined: page:<definition id>, component:<definition id>/<component id>.
CREATE TABLE first_seen (
  subject TEXT PRIMARY KEY,
  at BIGINT NOT NULL
);

-- Entries that were made of outages and published: what they are found by again, so that their addresses stay.
CREATE TABLE entry (
  page TEXT NOT NULL,              -- its definition's id
  id TEXT NOT NULL,
  component TEXT NOT NULL,         -- the component whose fall opened it
  fell_at BIGINT NOT NULL,
  first_seen_at BIGINT NOT NULL,
  PRIMARY KEY (page, id)
);

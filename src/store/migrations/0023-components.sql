-- Components and groups that were made over the API; a page shows them after those that are defined elsewhere.
CREATE TABLE component (
  page TEXT NOT NULL,              -- key of the page
  id TEXT NOT NULL,                -- as in addresses
  kind TEXT NOT NULL,              -- component, group
  name TEXT NOT NULL,
  description TEXT,
  group_id TEXT,
  showcase BIGINT NOT NULL,        -- this and the next two are returned to clients and change nothing
  only_if_degraded BIGINT NOT NULL,
  start_date TEXT,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (page, id)
);

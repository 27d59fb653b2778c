-- Releases for nodes that draw nothing, where the configuration keeps them here; no table refers to them, and they can be
-- made again from what was published.
CREATE TABLE release_object (
  key TEXT PRIMARY KEY,            -- releases.json, objects/<sha256>[.br]
  version TEXT NOT NULL,           -- digest of the bytes
  bytes BLOB NOT NULL
);

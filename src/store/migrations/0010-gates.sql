-- The last number that a release of each page had, whichever node made it. Rows stay when a page goes: no number comes twice.
CREATE TABLE release_number (
  slug TEXT PRIMARY KEY,
  number BIGINT NOT NULL
);

-- Hashes of addresses have a key that lies elsewhere, and old counts are of no use with it.
DROP TABLE access_salt;
DELETE FROM access_attempt;

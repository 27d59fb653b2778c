-- The last number that a release of each page had, whichever node made it. Rows stay when a page goes: no number comes twice.
CREATE TABLE release_number (
  slug TEXT PRIMARY KEY,
  number BIGINT NOT NULL
);

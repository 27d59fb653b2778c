-- Releases for web nodes are kept in a bucket only. Nothing refers to this table, and what was in it can be made again.
DROP TABLE release_object;

-- Definitions make rows of upstreams megabytes long, and their revision stands behind them: without an index, each look at
-- what changed reads all of it.
CREATE INDEX upstream_revision ON upstream (revision);

-- Whether the past of a monitor was asked for, at upstreams that give it by itself. One that reported days has been.
ALTER TABLE monitor ADD COLUMN is_backfilled BIGINT NOT NULL DEFAULT 0;
UPDATE monitor SET is_backfilled = 1 WHERE id IN (SELECT monitor FROM reported_day);

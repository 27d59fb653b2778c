-- What keeps the sync polite: requests of the last hour, and what each upstream asked of us or refused.

CREATE TABLE upstream_request (
  upstream TEXT NOT NULL,
  at BIGINT NOT NULL,
  is_spare INTEGER NOT NULL        -- 1: detail and back-fill, which take what lists leave
);
CREATE INDEX upstream_request_at ON upstream_request (upstream, at);

CREATE TABLE upstream_control (
  upstream TEXT PRIMARY KEY,
  hold_until BIGINT,               -- told to wait: nothing leaves before
  strikes INTEGER NOT NULL DEFAULT 0,   -- "too many" in a row, for the back-off
  failures INTEGER NOT NULL DEFAULT 0,  -- failed requests in a row
  open_until BIGINT,               -- circuit open: nothing is tried before
  openings INTEGER NOT NULL DEFAULT 0,  -- in a row, for how long the next one lasts
  refused_until BIGINT,            -- key refused: nothing is tried before, unless the options change
  refused_print TEXT,
  list_calls INTEGER NOT NULL DEFAULT 0 -- of the last pass, to keep enough of the quota for the next ones
);

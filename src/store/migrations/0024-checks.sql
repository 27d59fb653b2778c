-- What the checks that this installation makes itself showed last, for each place that makes them.
CREATE TABLE check_result (
  upstream TEXT NOT NULL,
  name TEXT NOT NULL,              -- id of the check in its upstream
  place TEXT NOT NULL,
  at BIGINT NOT NULL,              -- last try
  document TEXT NOT NULL,          -- JSON of the result
  PRIMARY KEY (upstream, name, place)
);

-- Keys that an operator accepted although they open no subscriber's address, as keyed hashes.

CREATE TABLE accepted_key (
  digest TEXT PRIMARY KEY
);

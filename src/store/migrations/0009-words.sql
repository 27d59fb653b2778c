-- Names that the field uses.
ALTER TABLE upstream_control RENAME COLUMN strikes TO limited_count;
ALTER TABLE upstream_control RENAME COLUMN refused_print TO refused_fingerprint;
ALTER TABLE operator_session RENAME COLUMN token_print TO token_fingerprint;

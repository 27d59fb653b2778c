-- Pages show the few days that were corrected, and look for them with every change.
CREATE INDEX log_day_corrected ON log_day (page, corrected_at) WHERE corrected_at IS NOT NULL;

-- What changed when, so that publishing looks at nothing else. One revision is one commit that changed something.

CREATE TABLE revision (
  value BIGINT NOT NULL            -- the last one; a single row
);
INSERT INTO revision (value) VALUES (0);

ALTER TABLE monitor ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
CREATE INDEX monitor_revision ON monitor (revision);
ALTER TABLE incident ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
CREATE INDEX incident_revision ON incident (revision);
ALTER TABLE maintenance ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
CREATE INDEX maintenance_revision ON maintenance (revision);
ALTER TABLE upstream ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;  -- of definitions and announcements

-- What an incident or a maintenance is about, so that those of one page are found without reading all. A subject it was
-- about once stays, so that a page that it left hears of that too.
CREATE TABLE event_subject (
  subject TEXT NOT NULL,           -- monitor:<id>, component:<definition id>/<component id>, page:<definition id or slug>
  event TEXT NOT NULL,
  PRIMARY KEY (subject, event)
);
CREATE INDEX event_subject_event ON event_subject (event);

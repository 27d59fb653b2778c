-- Which page has which slug, and since when. Whatever is kept for a page is kept under its key, since a slug can change hands.
CREATE TABLE page (
  key TEXT PRIMARY KEY,            -- <slug>~<era>; no era of a slug comes twice
  slug TEXT NOT NULL,
  origin TEXT NOT NULL,            -- id of its definition; empty: kept from before eras, for the page that has the slug next
  access TEXT NOT NULL,            -- kind of its gate; empty: not known yet
  gate BIGINT NOT NULL,            -- grows whenever access changes
  began_at BIGINT NOT NULL,
  ended_at BIGINT,                 -- null: it has the slug
  revision BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX page_slug ON page (slug);
CREATE INDEX page_revision ON page (revision);

-- What there is belongs to the page that has the slug now. Where none has, the page ends as soon as definitions are known.
INSERT INTO page (key, slug, origin, access, gate, began_at)
SELECT slug || '~1', slug, '', '', 1, 0 FROM (
  SELECT slug FROM access_gate UNION SELECT slug FROM access_grant UNION SELECT slug FROM access_badge_token
  UNION SELECT page FROM written WHERE page <> '' UNION SELECT page FROM api_token
  UNION SELECT slug FROM subscriber UNION SELECT slug FROM subscriber_request
  UNION SELECT slug FROM notice_page UNION SELECT slug FROM notice UNION SELECT slug FROM release_number
) AS known WHERE slug <> '_site';

ALTER TABLE access_gate RENAME COLUMN slug TO page;
ALTER TABLE access_grant RENAME COLUMN slug TO page;
ALTER TABLE access_challenge RENAME COLUMN slug TO page;
ALTER TABLE access_badge_token RENAME COLUMN slug TO page;
ALTER TABLE subscriber RENAME COLUMN slug TO page;
ALTER TABLE subscriber_request RENAME COLUMN slug TO page;
ALTER TABLE notice_page RENAME COLUMN slug TO page;
ALTER TABLE notice RENAME COLUMN slug TO page;
UPDATE access_gate SET page = page || '~1';
UPDATE access_grant SET page = page || '~1';
UPDATE access_challenge SET page = page || '~1';
UPDATE access_badge_token SET page = page || '~1';
UPDATE subscriber SET page = page || '~1';
UPDATE subscriber_request SET page = page || '~1';
UPDATE notice SET page = page || '~1';
UPDATE written SET page = page || '~1' WHERE page <> '';
UPDATE api_token SET page = page || '~1';

ALTER TABLE notice_page ADD COLUMN gate BIGINT NOT NULL DEFAULT 1;  -- version of the gate that the names were published behind
UPDATE notice_page SET page = page || '~1';

ALTER TABLE written ADD COLUMN is_private BIGINT NOT NULL DEFAULT 0;  -- 1: written while the page was private

-- Requests and alerts are recognised on their page only.
UPDATE written_request SET actor = actor || '~1';
ALTER TABLE written_alert ADD COLUMN page TEXT NOT NULL DEFAULT '';
UPDATE written_alert SET page = COALESCE((SELECT page FROM written WHERE id = written_alert.post), '');

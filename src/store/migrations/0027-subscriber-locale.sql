-- The language in which somebody subscribed; empty: that of the page.
ALTER TABLE subscriber ADD COLUMN locale TEXT NOT NULL DEFAULT '';
ALTER TABLE subscriber_request ADD COLUMN locale TEXT NOT NULL DEFAULT '';

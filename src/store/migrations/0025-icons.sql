-- Icons by the page that wanted them: another one may not be allowed to have the same address fetched. They are fetched again.
DROP TABLE icon;
CREATE TABLE icon (
  page TEXT NOT NULL,              -- its key
  address TEXT NOT NULL,
  asked_at BIGINT NOT NULL,
  png TEXT,                        -- base64; null: there was never a good answer
  refusal TEXT,                    -- why the last answer was not taken; null: it was
  PRIMARY KEY (page, address)
);
CREATE INDEX icon_asked ON icon (asked_at);

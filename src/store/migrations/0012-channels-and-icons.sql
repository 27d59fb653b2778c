-- Where an upstream sends its own notifications, and when it was asked for that last; null: never.
ALTER TABLE upstream ADD COLUMN channels TEXT NOT NULL DEFAULT '[]';
ALTER TABLE upstream ADD COLUMN channels_at BIGINT;

-- Icons of pages as they were fetched; what nobody asks for any more is forgotten.
CREATE TABLE icon (
  address TEXT PRIMARY KEY,
  asked_at BIGINT NOT NULL,
  png TEXT,                        -- base64; null: there was never a good answer
  refusal TEXT                     -- why the last answer was not taken; null: it was
);
CREATE INDEX icon_asked ON icon (asked_at);

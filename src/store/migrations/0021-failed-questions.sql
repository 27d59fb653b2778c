-- Optional questions that an upstream failed to answer: how often in a row, when last, and how.
CREATE TABLE failed_question (
  upstream TEXT NOT NULL,
  question TEXT NOT NULL,          -- digest of what was asked
  failures BIGINT NOT NULL,
  at BIGINT NOT NULL,
  code TEXT NOT NULL,
  status BIGINT,
  message TEXT NOT NULL,
  PRIMARY KEY (upstream, question)
);
CREATE INDEX failed_question_at ON failed_question (at);

-- The past of these was asked for, which is remembered of each monitor from now on.
UPDATE monitor SET is_backfilled = 1 WHERE id IN (SELECT monitor FROM reported_span);

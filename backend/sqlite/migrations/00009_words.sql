-- The version of words by which the keys of keywords and negatives are made (package rekey), and
-- what was removed because keys became equal.

-- +goose Up
ALTER TABLE state ADD COLUMN words TEXT NOT NULL DEFAULT 'rules 1; noted by no program';
-- The version that the current writer names. Programs that know no version of words leave it empty.
ALTER TABLE state ADD COLUMN writer TEXT NOT NULL DEFAULT '';

-- +goose StatementBegin
CREATE TRIGGER state_words BEFORE UPDATE OF since ON state WHEN NEW.since <> 9223372036854775807 AND NEW.writer <> OLD.words BEGIN
  SELECT RAISE(ABORT, 'the keys of keywords are of words of another version');
END;
-- +goose StatementEnd

-- Match types are those of keyword. The bid is NULL if there is none, the quality if it is a negative.
CREATE TABLE removed_phrase (
  negative    INTEGER NOT NULL CHECK (negative IN (0, 1)),
  id          INTEGER NOT NULL,
  campaign_id INTEGER NOT NULL, -- of a campaign's negative, else 0
  group_id    INTEGER NOT NULL,
  type        INTEGER NOT NULL,
  text        TEXT NOT NULL,
  enabled     INTEGER NOT NULL,
  bid         INTEGER,
  quality     INTEGER,
  kept        INTEGER NOT NULL, -- the id that it has become one with; 0: none
  why         TEXT NOT NULL,    -- it is no keyword any more
  PRIMARY KEY (negative, id)
) STRICT, WITHOUT ROWID;

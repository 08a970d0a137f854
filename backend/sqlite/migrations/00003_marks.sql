-- The database's id, and marks: what distinguishes two histories that have the
-- same clock, such as those after two restores of one backup.

-- +goose Up
INSERT OR IGNORE INTO control (key, value) VALUES ('database', CAST(lower(hex(randomblob(16))) AS BLOB));

ALTER TABLE state ADD COLUMN compacted_mark INTEGER NOT NULL DEFAULT 0; -- of the change at compacted; 0: not known

-- A column whose default is an expression cannot be added, so the table is made
-- anew. The time is part of the mark, so that a process that was put back to an
-- earlier state of its memory does not give the same marks again. The sum cannot
-- overflow (before the year 4200) and is never 0.
CREATE TABLE old_log AS SELECT * FROM change_log;
CREATE TABLE old_clock AS SELECT seq FROM sqlite_sequence WHERE name = 'change_log';
DROP TABLE change_log;
CREATE TABLE change_log (
  clock         INTEGER PRIMARY KEY AUTOINCREMENT,
  kind          INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 3),
  id            INTEGER NOT NULL,
  advertiser_id INTEGER NOT NULL DEFAULT 0, -- of a campaign or group
  campaign_id   INTEGER NOT NULL DEFAULT 0, -- of a group
  removed       INTEGER NOT NULL DEFAULT 0 CHECK (removed IN (0, 1)),
  mark          INTEGER NOT NULL DEFAULT (random() / 2 + CAST(julianday('now') * 86400000 AS INTEGER) * 16384 | 1) CHECK (mark <> 0)
) STRICT;
INSERT INTO change_log (clock, kind, id, advertiser_id, campaign_id, removed)
  SELECT clock, kind, id, advertiser_id, campaign_id, removed FROM old_log ORDER BY clock;
-- The clock goes on where it was, also when the log is empty.
DELETE FROM sqlite_sequence WHERE name = 'change_log';
INSERT INTO sqlite_sequence (name, seq) SELECT 'change_log', seq FROM old_clock;
DROP TABLE old_log;
DROP TABLE old_clock;

-- The triggers of the table went with it.
-- +goose StatementBegin
CREATE TRIGGER change_log_advertiser AFTER INSERT ON change_log WHEN NEW.kind = 1 AND NOT NEW.removed BEGIN
  UPDATE advertiser SET version = NEW.clock WHERE id = NEW.id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER change_log_campaign AFTER INSERT ON change_log WHEN NEW.kind = 2 AND NOT NEW.removed BEGIN
  UPDATE campaign SET version = NEW.clock WHERE id = NEW.id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER change_log_ad_group AFTER INSERT ON change_log WHEN NEW.kind = 3 AND NOT NEW.removed BEGIN
  UPDATE ad_group SET version = NEW.clock WHERE id = NEW.id;
END;
-- +goose StatementEnd

-- Whatever leaves the log, a reader behind it must hear of it.
-- +goose StatementBegin
CREATE TRIGGER change_log_delete AFTER DELETE ON change_log WHEN OLD.clock > (SELECT compacted FROM state) BEGIN
  UPDATE state SET compacted = OLD.clock, compacted_mark = OLD.mark;
END;
-- +goose StatementEnd

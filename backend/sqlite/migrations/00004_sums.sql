-- Sums by which damage is found. The rows of an advertiser, a campaign with its
-- negatives, or a group with all that it holds have one sum, kept by the program
-- for one version: summed. Other programs need not know: what they change gets a
-- version above summed, and is summed anew. The log and the state have sums that
-- SQLite itself computes, whoever writes.

-- +goose Up
-- 6364136223846793005 stands for: not summed yet.
ALTER TABLE advertiser ADD COLUMN sum INTEGER NOT NULL DEFAULT 6364136223846793005;
ALTER TABLE advertiser ADD COLUMN summed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE campaign ADD COLUMN sum INTEGER NOT NULL DEFAULT 6364136223846793005;
ALTER TABLE campaign ADD COLUMN summed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ad_group ADD COLUMN sum INTEGER NOT NULL DEFAULT 6364136223846793005;
ALTER TABLE ad_group ADD COLUMN summed INTEGER NOT NULL DEFAULT 0;
UPDATE advertiser SET summed = version;
UPDATE campaign SET summed = version;
UPDATE ad_group SET summed = version;

CREATE TABLE old_state AS SELECT * FROM state;
DROP TABLE state;
CREATE TABLE state (
  one            INTEGER PRIMARY KEY CHECK (one = 1),
  since          INTEGER NOT NULL,
  compacted      INTEGER NOT NULL, -- changes up to this clock may be gone
  keyword        INTEGER NOT NULL, -- the last ids given
  negative       INTEGER NOT NULL,
  ad             INTEGER NOT NULL,
  compacted_mark INTEGER NOT NULL, -- of the change at compacted; 0: not known
  unsummed       INTEGER NOT NULL, -- 1: some entities are not summed yet
  sum            INTEGER NOT NULL GENERATED ALWAYS AS
    ((since % 2147483647 * 3 + compacted % 2147483647 * 5 + compacted_mark % 2147483647 * 7 + keyword % 2147483647 * 11 + negative % 2147483647 * 13 + ad % 2147483647 * 17 + unsummed % 2147483647 * 19) % 2147483647) STORED
) STRICT;
INSERT INTO state (one, since, compacted, keyword, negative, ad, compacted_mark, unsummed)
  SELECT one, since, compacted, keyword, negative, ad, compacted_mark, 1 FROM old_state;
DROP TABLE old_state;

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
  mark          INTEGER NOT NULL DEFAULT (random() / 2 + CAST(julianday('now') * 86400000 AS INTEGER) * 16384 | 1) CHECK (mark <> 0),
  sum           INTEGER NOT NULL GENERATED ALWAYS AS
    ((clock % 2147483647 * 3 + mark % 2147483647 * 5 + kind % 2147483647 * 7 + id % 2147483647 * 11 + advertiser_id % 2147483647 * 13 + campaign_id % 2147483647 * 17 + removed % 2147483647 * 19) % 2147483647) STORED
) STRICT;
INSERT INTO change_log (clock, kind, id, advertiser_id, campaign_id, removed, mark)
  SELECT clock, kind, id, advertiser_id, campaign_id, removed, mark FROM old_log ORDER BY clock;
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

-- An entry that is deleted by hand was the evidence that another program changed
-- its entity. The program sums such entities before it compacts the log.
-- +goose StatementBegin
CREATE TRIGGER change_log_unsum_advertiser AFTER DELETE ON change_log
WHEN OLD.kind = 1 AND EXISTS (SELECT 1 FROM advertiser WHERE id = OLD.id AND version = OLD.clock AND summed < version) BEGIN
  UPDATE advertiser SET sum = 6364136223846793005, summed = version WHERE id = OLD.id;
  UPDATE state SET unsummed = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER change_log_unsum_campaign AFTER DELETE ON change_log
WHEN OLD.kind = 2 AND EXISTS (SELECT 1 FROM campaign WHERE id = OLD.id AND version = OLD.clock AND summed < version) BEGIN
  UPDATE campaign SET sum = 6364136223846793005, summed = version WHERE id = OLD.id;
  UPDATE state SET unsummed = 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER change_log_unsum_ad_group AFTER DELETE ON change_log
WHEN OLD.kind = 3 AND EXISTS (SELECT 1 FROM ad_group WHERE id = OLD.id AND version = OLD.clock AND summed < version) BEGIN
  UPDATE ad_group SET sum = 6364136223846793005, summed = version WHERE id = OLD.id;
  UPDATE state SET unsummed = 1;
END;
-- +goose StatementEnd

-- Values that the programs keep, with their sums; NULL: of another program.
ALTER TABLE control ADD COLUMN sum INTEGER;

-- +goose StatementBegin
CREATE TRIGGER control_unsum AFTER UPDATE OF value ON control WHEN NEW.sum IS OLD.sum AND NEW.value IS NOT OLD.value BEGIN
  UPDATE control SET sum = NULL WHERE key = NEW.key;
END;
-- +goose StatementEnd

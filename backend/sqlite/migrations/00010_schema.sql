-- The schema. docs/decisions/004-sqlite-driver.md says why tables are clustered; package
-- sqlite's documentation how clocks and ids work.
--
-- Sums find damage. The rows of an advertiser with its negatives, of a campaign with its
-- negatives, or of a group with all that it holds have one sum, kept by the program for one
-- version: summed. Other programs need not know: what they change gets a version above summed,
-- and is summed anew. 6364136223846793005 stands for: not summed yet. The log and the state
-- have sums that SQLite itself computes for any writer.

-- +goose Up
PRAGMA application_id = 1097093992; -- 'AdSh': the file is a database of adshard

CREATE TABLE advertiser (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  name    TEXT NOT NULL UNIQUE,
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  version INTEGER NOT NULL DEFAULT 0, -- clock of the last change
  sum     INTEGER NOT NULL DEFAULT 6364136223846793005,
  summed  INTEGER NOT NULL DEFAULT 0,
  time_zone TEXT NOT NULL DEFAULT 'UTC' -- IANA name: when its days begin
) STRICT;

CREATE TABLE campaign (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  advertiser_id    INTEGER NOT NULL REFERENCES advertiser (id),
  name             TEXT NOT NULL,
  enabled          INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  budget_exhausted INTEGER NOT NULL DEFAULT 0 CHECK (budget_exhausted IN (0, 1)),
  daily_budget     INTEGER CHECK (daily_budget >= 0), -- micros; NULL: none
  -- Bid modifiers in permille; NULL: not set.
  desktop          INTEGER CHECK (desktop BETWEEN 0 AND 10000),
  mobile           INTEGER CHECK (mobile BETWEEN 0 AND 10000),
  tablet           INTEGER CHECK (tablet BETWEEN 0 AND 10000),
  languages        TEXT NOT NULL DEFAULT '', -- lower-case codes, sorted, joined by a space
  rotate_evenly    INTEGER NOT NULL DEFAULT 0 CHECK (rotate_evenly IN (0, 1)),
  version          INTEGER NOT NULL DEFAULT 0,
  sum              INTEGER NOT NULL DEFAULT 6364136223846793005,
  summed           INTEGER NOT NULL DEFAULT 0,
  standard_delivery INTEGER NOT NULL DEFAULT 0 CHECK (standard_delivery IN (0, 1)), -- 0: accelerated
  -- In how many of a million requests it takes no part.
  withheld         INTEGER NOT NULL DEFAULT 0 CHECK (withheld BETWEEN 0 AND 1000000),
  -- What holds it: it is then served as paused whatever its status is (backend.Hold).
  hold             INTEGER NOT NULL DEFAULT 0 CHECK (hold >= 0),
  UNIQUE (advertiser_id, name)
) STRICT;
CREATE INDEX campaign_hold ON campaign (hold) WHERE hold <> 0;

CREATE TABLE ad_group (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  campaign_id INTEGER NOT NULL REFERENCES campaign (id),
  name        TEXT NOT NULL,
  enabled     INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  bid         INTEGER CHECK (bid >= 0), -- default bid, micros; NULL: none
  desktop     INTEGER CHECK (desktop BETWEEN 0 AND 10000),
  mobile      INTEGER CHECK (mobile BETWEEN 0 AND 10000),
  tablet      INTEGER CHECK (tablet BETWEEN 0 AND 10000),
  version     INTEGER NOT NULL DEFAULT 0, -- of the group and all that it holds
  sum         INTEGER NOT NULL DEFAULT 6364136223846793005,
  summed      INTEGER NOT NULL DEFAULT 0,
  hold        INTEGER NOT NULL DEFAULT 0 CHECK (hold >= 0), -- as a campaign's
  UNIQUE (campaign_id, name)
) STRICT;
CREATE INDEX ad_group_hold ON ad_group (hold) WHERE hold <> 0;

-- What groups, campaigns and advertisers hold is clustered by its natural key, so that all
-- of one owner lies side by side. The id is given by the database: leave it
-- out (or 0) when inserting by hand. Match types: 0 exact, 1 phrase, 2 broad.
CREATE TABLE keyword (
  group_id INTEGER NOT NULL REFERENCES ad_group (id),
  words    TEXT NOT NULL, -- normalised, joined by one space
  type     INTEGER NOT NULL CHECK (type BETWEEN 0 AND 2),
  id       INTEGER NOT NULL DEFAULT 0,
  text     TEXT NOT NULL, -- as given
  enabled  INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  bid      INTEGER CHECK (bid >= 0), -- own bid, micros; NULL: the group's
  quality  INTEGER NOT NULL DEFAULT 5 CHECK (quality BETWEEN 1 AND 10),
  -- The quality that was learned, with its counts (backend.Learned); 0: none.
  learned  INTEGER NOT NULL DEFAULT 0 CHECK (learned = 0 OR learned > 0 AND (learned & 15) BETWEEN 1 AND 10),
  PRIMARY KEY (group_id, words, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE group_negative (
  group_id INTEGER NOT NULL REFERENCES ad_group (id),
  words    TEXT NOT NULL,
  type     INTEGER NOT NULL CHECK (type BETWEEN 0 AND 2),
  id       INTEGER NOT NULL DEFAULT 0,
  text     TEXT NOT NULL,
  enabled  INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  PRIMARY KEY (group_id, words, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE campaign_negative (
  campaign_id INTEGER NOT NULL REFERENCES campaign (id),
  words       TEXT NOT NULL,
  type        INTEGER NOT NULL CHECK (type BETWEEN 0 AND 2),
  id          INTEGER NOT NULL DEFAULT 0,
  text        TEXT NOT NULL,
  enabled     INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  PRIMARY KEY (campaign_id, words, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE advertiser_negative (
  advertiser_id INTEGER NOT NULL REFERENCES advertiser (id),
  words         TEXT NOT NULL,
  type          INTEGER NOT NULL CHECK (type BETWEEN 0 AND 2),
  id            INTEGER NOT NULL DEFAULT 0,
  text          TEXT NOT NULL,
  enabled       INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  PRIMARY KEY (advertiser_id, words, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE ad (
  group_id     INTEGER NOT NULL REFERENCES ad_group (id),
  headlines    TEXT NOT NULL, -- JSON array of strings
  descriptions TEXT NOT NULL, -- JSON array of strings
  path1        TEXT NOT NULL DEFAULT '',
  path2        TEXT NOT NULL DEFAULT '',
  final_url    TEXT NOT NULL DEFAULT '',
  id           INTEGER NOT NULL DEFAULT 0,
  enabled      INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  PRIMARY KEY (group_id, headlines, descriptions, path1, path2, final_url)
) STRICT, WITHOUT ROWID;

-- The log of changes, written by the triggers below. Kinds: 1 advertiser, 2 campaign, 3 group.
-- A mark distinguishes two histories that have the same clock, such as those after two restores
-- of one backup. The time is part of it, so that a process that was put back to an earlier state
-- of its memory does not give the same marks again. It cannot overflow (before the year 4200) and
-- is never 0.
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

CREATE TABLE feed_reader (
  name  TEXT PRIMARY KEY,
  clock INTEGER NOT NULL,
  held_at INTEGER NOT NULL DEFAULT 0 -- nanoseconds since 1970
) STRICT, WITHOUT ROWID;

-- Values that the programs keep, with their sums; NULL: of another program.
CREATE TABLE control (
  key   TEXT PRIMARY KEY,
  value BLOB NOT NULL,
  sum   INTEGER
) STRICT;
INSERT INTO control (key, value) VALUES ('database', CAST(lower(hex(randomblob(16))) AS BLOB)); -- the database's id

-- +goose StatementBegin
CREATE TRIGGER control_unsum AFTER UPDATE OF value ON control WHEN NEW.sum IS OLD.sum AND NEW.value IS NOT OLD.value BEGIN
  UPDATE control SET sum = NULL WHERE key = NEW.key;
END;
-- +goose StatementEnd

-- One row. A writer that logs each entity once a transaction sets since to the
-- clock before its transaction, and back to the largest number before it
-- commits: an entity of a later version is then known to be in the log of this
-- very transaction. Whoever leaves since alone logs every change.
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
    ((since % 2147483647 * 3 + compacted % 2147483647 * 5 + compacted_mark % 2147483647 * 7 + keyword % 2147483647 * 11 + negative % 2147483647 * 13 + ad % 2147483647 * 17 + unsummed % 2147483647 * 19) % 2147483647) STORED,
  -- The version of words by which the keys of keywords and negatives are made (package rekey).
  words          TEXT NOT NULL DEFAULT 'rules 1; noted by no program',
  -- That which the current writer names; programs that know no version of words leave it empty.
  writer         TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO state (one, since, compacted, keyword, negative, ad, compacted_mark, unsummed)
  VALUES (1, 9223372036854775807, 0, 0, 0, 0, 0, 1);

-- +goose StatementBegin
CREATE TRIGGER state_words BEFORE UPDATE OF since ON state WHEN NEW.since <> 9223372036854775807 AND NEW.writer <> OLD.words BEGIN
  SELECT RAISE(ABORT, 'the keys of keywords are of words of another version');
END;
-- +goose StatementEnd

-- What was removed because keys became equal. Match types are those of keyword. The bid is NULL if there is none, the
-- quality if it is a negative.
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
  advertiser_id INTEGER NOT NULL DEFAULT 0, -- of an advertiser's negative, else 0
  PRIMARY KEY (negative, id)
) STRICT, WITHOUT ROWID;

-- An entry of the log gives its entity the version.
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

-- Advertisers.
-- +goose StatementBegin
CREATE TRIGGER advertiser_insert AFTER INSERT ON advertiser BEGIN
  INSERT INTO change_log (kind, id) VALUES (1, NEW.id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER advertiser_update AFTER UPDATE OF name, enabled, time_zone ON advertiser
WHEN NEW.version <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id) VALUES (1, NEW.id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER advertiser_delete BEFORE DELETE ON advertiser BEGIN
  DELETE FROM campaign WHERE advertiser_id = OLD.id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER advertiser_deleted AFTER DELETE ON advertiser BEGIN
  INSERT INTO change_log (kind, id, removed) VALUES (1, OLD.id, 1);
  DELETE FROM advertiser_negative WHERE advertiser_id = OLD.id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER advertiser_identity BEFORE UPDATE OF id ON advertiser WHEN NEW.id <> OLD.id BEGIN
  SELECT RAISE(ABORT, 'an id never changes');
END;
-- +goose StatementEnd

-- Campaigns. A change of languages is also one of every group, after it.
-- +goose StatementBegin
CREATE TRIGGER campaign_insert AFTER INSERT ON campaign BEGIN
  INSERT INTO change_log (kind, id, advertiser_id) VALUES (2, NEW.id, NEW.advertiser_id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER campaign_update
AFTER UPDATE OF name, enabled, hold, budget_exhausted, withheld, daily_budget, desktop, mobile, tablet, rotate_evenly, standard_delivery ON campaign
WHEN NEW.version <= (SELECT since FROM state) AND NEW.languages = OLD.languages BEGIN
  INSERT INTO change_log (kind, id, advertiser_id) VALUES (2, NEW.id, NEW.advertiser_id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER campaign_languages AFTER UPDATE OF languages ON campaign WHEN NEW.languages <> OLD.languages BEGIN
  INSERT INTO change_log (kind, id, advertiser_id) VALUES (2, NEW.id, NEW.advertiser_id);
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, id, NEW.advertiser_id, NEW.id FROM ad_group WHERE campaign_id = NEW.id ORDER BY id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER campaign_delete BEFORE DELETE ON campaign BEGIN
  DELETE FROM ad_group WHERE campaign_id = OLD.id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER campaign_deleted AFTER DELETE ON campaign BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, removed) VALUES (2, OLD.id, OLD.advertiser_id, 1);
  DELETE FROM campaign_negative WHERE campaign_id = OLD.id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER campaign_identity BEFORE UPDATE OF id, advertiser_id ON campaign
WHEN NEW.id <> OLD.id OR NEW.advertiser_id <> OLD.advertiser_id BEGIN
  SELECT RAISE(ABORT, 'the id and the advertiser of a campaign never change');
END;
-- +goose StatementEnd

-- Groups.
-- +goose StatementBegin
CREATE TRIGGER ad_group_insert AFTER INSERT ON ad_group BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, NEW.id, advertiser_id, id FROM campaign WHERE id = NEW.campaign_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER ad_group_update AFTER UPDATE OF name, enabled, hold, bid, desktop, mobile, tablet ON ad_group
WHEN NEW.version <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, NEW.id, advertiser_id, id FROM campaign WHERE id = NEW.campaign_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER ad_group_deleted AFTER DELETE ON ad_group BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id, removed)
    SELECT 3, OLD.id, advertiser_id, id, 1 FROM campaign WHERE id = OLD.campaign_id;
  DELETE FROM keyword WHERE group_id = OLD.id;
  DELETE FROM group_negative WHERE group_id = OLD.id;
  DELETE FROM ad WHERE group_id = OLD.id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER ad_group_identity BEFORE UPDATE OF id, campaign_id ON ad_group
WHEN NEW.id <> OLD.id OR NEW.campaign_id <> OLD.campaign_id BEGIN
  SELECT RAISE(ABORT, 'the id and the campaign of a group never change');
END;
-- +goose StatementEnd

-- What groups hold: a change is one of the group. A group that is being
-- removed is gone by then and logs nothing more.
-- +goose StatementBegin
CREATE TRIGGER keyword_insert AFTER INSERT ON keyword
WHEN (SELECT version FROM ad_group WHERE id = NEW.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = NEW.group_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER keyword_update AFTER UPDATE ON keyword
WHEN (SELECT version FROM ad_group WHERE id = NEW.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = NEW.group_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER keyword_delete AFTER DELETE ON keyword
WHEN (SELECT version FROM ad_group WHERE id = OLD.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = OLD.group_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER keyword_number AFTER INSERT ON keyword WHEN NEW.id = 0 BEGIN
  UPDATE state SET keyword = keyword + 1;
  UPDATE keyword SET id = (SELECT keyword FROM state) WHERE group_id = NEW.group_id AND words = NEW.words AND type = NEW.type;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER keyword_numbered BEFORE INSERT ON keyword
WHEN NEW.id <> 0 AND (SELECT since FROM state) = 9223372036854775807 BEGIN
  SELECT RAISE(ABORT, 'ids are given by the database: leave the id out');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER keyword_identity BEFORE UPDATE OF id, group_id ON keyword
WHEN NEW.id <> OLD.id AND OLD.id <> 0 OR NEW.group_id <> OLD.group_id BEGIN
  SELECT RAISE(ABORT, 'the id and the owner of a row never change');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER group_negative_insert AFTER INSERT ON group_negative
WHEN (SELECT version FROM ad_group WHERE id = NEW.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = NEW.group_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER group_negative_update AFTER UPDATE ON group_negative
WHEN (SELECT version FROM ad_group WHERE id = NEW.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = NEW.group_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER group_negative_delete AFTER DELETE ON group_negative
WHEN (SELECT version FROM ad_group WHERE id = OLD.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = OLD.group_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER group_negative_number AFTER INSERT ON group_negative WHEN NEW.id = 0 BEGIN
  UPDATE state SET negative = negative + 1;
  UPDATE group_negative SET id = (SELECT negative FROM state) WHERE group_id = NEW.group_id AND words = NEW.words AND type = NEW.type;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER group_negative_numbered BEFORE INSERT ON group_negative
WHEN NEW.id <> 0 AND (SELECT since FROM state) = 9223372036854775807 BEGIN
  SELECT RAISE(ABORT, 'ids are given by the database: leave the id out');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER group_negative_identity BEFORE UPDATE OF id, group_id ON group_negative
WHEN NEW.id <> OLD.id AND OLD.id <> 0 OR NEW.group_id <> OLD.group_id BEGIN
  SELECT RAISE(ABORT, 'the id and the owner of a row never change');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER ad_insert AFTER INSERT ON ad
WHEN (SELECT version FROM ad_group WHERE id = NEW.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = NEW.group_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER ad_update AFTER UPDATE ON ad
WHEN (SELECT version FROM ad_group WHERE id = NEW.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = NEW.group_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER ad_delete AFTER DELETE ON ad
WHEN (SELECT version FROM ad_group WHERE id = OLD.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = OLD.group_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER ad_number AFTER INSERT ON ad WHEN NEW.id = 0 BEGIN
  UPDATE state SET ad = ad + 1;
  UPDATE ad SET id = (SELECT ad FROM state) WHERE group_id = NEW.group_id AND headlines = NEW.headlines AND descriptions = NEW.descriptions AND path1 = NEW.path1 AND path2 = NEW.path2 AND final_url = NEW.final_url;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER ad_numbered BEFORE INSERT ON ad
WHEN NEW.id <> 0 AND (SELECT since FROM state) = 9223372036854775807 BEGIN
  SELECT RAISE(ABORT, 'ids are given by the database: leave the id out');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER ad_identity BEFORE UPDATE OF id, group_id ON ad
WHEN NEW.id <> OLD.id AND OLD.id <> 0 OR NEW.group_id <> OLD.group_id BEGIN
  SELECT RAISE(ABORT, 'the id and the owner of a row never change');
END;
-- +goose StatementEnd

-- A campaign's own negatives: a change is one of the campaign.
-- +goose StatementBegin
CREATE TRIGGER campaign_negative_insert AFTER INSERT ON campaign_negative
WHEN (SELECT version FROM campaign WHERE id = NEW.campaign_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id)
    SELECT 2, id, advertiser_id FROM campaign WHERE id = NEW.campaign_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER campaign_negative_update AFTER UPDATE ON campaign_negative
WHEN (SELECT version FROM campaign WHERE id = NEW.campaign_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id)
    SELECT 2, id, advertiser_id FROM campaign WHERE id = NEW.campaign_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER campaign_negative_delete AFTER DELETE ON campaign_negative
WHEN (SELECT version FROM campaign WHERE id = OLD.campaign_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id)
    SELECT 2, id, advertiser_id FROM campaign WHERE id = OLD.campaign_id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER campaign_negative_number AFTER INSERT ON campaign_negative WHEN NEW.id = 0 BEGIN
  UPDATE state SET negative = negative + 1;
  UPDATE campaign_negative SET id = (SELECT negative FROM state) WHERE campaign_id = NEW.campaign_id AND words = NEW.words AND type = NEW.type;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER campaign_negative_numbered BEFORE INSERT ON campaign_negative
WHEN NEW.id <> 0 AND (SELECT since FROM state) = 9223372036854775807 BEGIN
  SELECT RAISE(ABORT, 'ids are given by the database: leave the id out');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER campaign_negative_identity BEFORE UPDATE OF id, campaign_id ON campaign_negative
WHEN NEW.id <> OLD.id AND OLD.id <> 0 OR NEW.campaign_id <> OLD.campaign_id BEGIN
  SELECT RAISE(ABORT, 'the id and the owner of a row never change');
END;
-- +goose StatementEnd

-- An advertiser's own negatives: a change is one of the advertiser. One that is being removed is gone by
-- then and logs nothing more.
-- +goose StatementBegin
CREATE TRIGGER advertiser_negative_insert AFTER INSERT ON advertiser_negative
WHEN (SELECT version FROM advertiser WHERE id = NEW.advertiser_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id) VALUES (1, NEW.advertiser_id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER advertiser_negative_update AFTER UPDATE ON advertiser_negative
WHEN (SELECT version FROM advertiser WHERE id = NEW.advertiser_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id) VALUES (1, NEW.advertiser_id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER advertiser_negative_delete AFTER DELETE ON advertiser_negative
WHEN (SELECT version FROM advertiser WHERE id = OLD.advertiser_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id) VALUES (1, OLD.advertiser_id);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER advertiser_negative_number AFTER INSERT ON advertiser_negative WHEN NEW.id = 0 BEGIN
  UPDATE state SET negative = negative + 1;
  UPDATE advertiser_negative SET id = (SELECT negative FROM state) WHERE advertiser_id = NEW.advertiser_id AND words = NEW.words AND type = NEW.type;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER advertiser_negative_numbered BEFORE INSERT ON advertiser_negative
WHEN NEW.id <> 0 AND (SELECT since FROM state) = 9223372036854775807 BEGIN
  SELECT RAISE(ABORT, 'ids are given by the database: leave the id out');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER advertiser_negative_identity BEFORE UPDATE OF id, advertiser_id ON advertiser_negative
WHEN NEW.id <> OLD.id AND OLD.id <> 0 OR NEW.advertiser_id <> OLD.advertiser_id BEGIN
  SELECT RAISE(ABORT, 'the id and the owner of a row never change');
END;
-- +goose StatementEnd

-- The schema as migrations 1 to 7 made it, in the words of sqlite_schema.
PRAGMA application_id = 1097093992;
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE advertiser (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  name    TEXT NOT NULL UNIQUE,
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  version INTEGER NOT NULL DEFAULT 0 -- clock of the last change
, sum INTEGER NOT NULL DEFAULT 6364136223846793005, summed INTEGER NOT NULL DEFAULT 0, time_zone TEXT NOT NULL DEFAULT 'UTC') STRICT;
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
  version          INTEGER NOT NULL DEFAULT 0, sum INTEGER NOT NULL DEFAULT 6364136223846793005, summed INTEGER NOT NULL DEFAULT 0, standard_delivery INTEGER NOT NULL DEFAULT 0 CHECK (standard_delivery IN (0, 1)), withheld INTEGER NOT NULL DEFAULT 0 CHECK (withheld BETWEEN 0 AND 1000000),
  UNIQUE (advertiser_id, name)
) STRICT;
CREATE TABLE ad_group (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  campaign_id INTEGER NOT NULL REFERENCES campaign (id),
  name        TEXT NOT NULL,
  enabled     INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  bid         INTEGER CHECK (bid >= 0), -- default bid, micros; NULL: none
  desktop     INTEGER CHECK (desktop BETWEEN 0 AND 10000),
  mobile      INTEGER CHECK (mobile BETWEEN 0 AND 10000),
  tablet      INTEGER CHECK (tablet BETWEEN 0 AND 10000),
  version     INTEGER NOT NULL DEFAULT 0, sum INTEGER NOT NULL DEFAULT 6364136223846793005, summed INTEGER NOT NULL DEFAULT 0, -- of the group and all that it holds
  UNIQUE (campaign_id, name)
) STRICT;
CREATE TABLE keyword (
  group_id INTEGER NOT NULL REFERENCES ad_group (id),
  words    TEXT NOT NULL, -- normalised, joined by one space
  type     INTEGER NOT NULL CHECK (type BETWEEN 0 AND 2),
  id       INTEGER NOT NULL DEFAULT 0,
  text     TEXT NOT NULL, -- as given
  enabled  INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  bid      INTEGER CHECK (bid >= 0), -- own bid, micros; NULL: the group's
  quality  INTEGER NOT NULL DEFAULT 5 CHECK (quality BETWEEN 1 AND 10), learned INTEGER NOT NULL DEFAULT 0 CHECK (learned = 0 OR learned > 0 AND (learned & 15) BETWEEN 1 AND 10),
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
CREATE TABLE feed_reader (
  name  TEXT PRIMARY KEY,
  clock INTEGER NOT NULL
, held_at INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE control (
  key   TEXT PRIMARY KEY,
  value BLOB NOT NULL
, sum INTEGER) STRICT;
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
CREATE TRIGGER advertiser_insert AFTER INSERT ON advertiser BEGIN
  INSERT INTO change_log (kind, id) VALUES (1, NEW.id);
END;
CREATE TRIGGER advertiser_delete BEFORE DELETE ON advertiser BEGIN
  DELETE FROM campaign WHERE advertiser_id = OLD.id;
END;
CREATE TRIGGER advertiser_deleted AFTER DELETE ON advertiser BEGIN
  INSERT INTO change_log (kind, id, removed) VALUES (1, OLD.id, 1);
END;
CREATE TRIGGER advertiser_identity BEFORE UPDATE OF id ON advertiser WHEN NEW.id <> OLD.id BEGIN
  SELECT RAISE(ABORT, 'an id never changes');
END;
CREATE TRIGGER campaign_insert AFTER INSERT ON campaign BEGIN
  INSERT INTO change_log (kind, id, advertiser_id) VALUES (2, NEW.id, NEW.advertiser_id);
END;
CREATE TRIGGER campaign_languages AFTER UPDATE OF languages ON campaign WHEN NEW.languages <> OLD.languages BEGIN
  INSERT INTO change_log (kind, id, advertiser_id) VALUES (2, NEW.id, NEW.advertiser_id);
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, id, NEW.advertiser_id, NEW.id FROM ad_group WHERE campaign_id = NEW.id ORDER BY id;
END;
CREATE TRIGGER campaign_delete BEFORE DELETE ON campaign BEGIN
  DELETE FROM ad_group WHERE campaign_id = OLD.id;
END;
CREATE TRIGGER campaign_deleted AFTER DELETE ON campaign BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, removed) VALUES (2, OLD.id, OLD.advertiser_id, 1);
  DELETE FROM campaign_negative WHERE campaign_id = OLD.id;
END;
CREATE TRIGGER campaign_identity BEFORE UPDATE OF id, advertiser_id ON campaign
WHEN NEW.id <> OLD.id OR NEW.advertiser_id <> OLD.advertiser_id BEGIN
  SELECT RAISE(ABORT, 'the id and the advertiser of a campaign never change');
END;
CREATE TRIGGER ad_group_insert AFTER INSERT ON ad_group BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, NEW.id, advertiser_id, id FROM campaign WHERE id = NEW.campaign_id;
END;
CREATE TRIGGER ad_group_update AFTER UPDATE OF name, enabled, bid, desktop, mobile, tablet ON ad_group
WHEN NEW.version <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, NEW.id, advertiser_id, id FROM campaign WHERE id = NEW.campaign_id;
END;
CREATE TRIGGER ad_group_deleted AFTER DELETE ON ad_group BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id, removed)
    SELECT 3, OLD.id, advertiser_id, id, 1 FROM campaign WHERE id = OLD.campaign_id;
  DELETE FROM keyword WHERE group_id = OLD.id;
  DELETE FROM group_negative WHERE group_id = OLD.id;
  DELETE FROM ad WHERE group_id = OLD.id;
END;
CREATE TRIGGER ad_group_identity BEFORE UPDATE OF id, campaign_id ON ad_group
WHEN NEW.id <> OLD.id OR NEW.campaign_id <> OLD.campaign_id BEGIN
  SELECT RAISE(ABORT, 'the id and the campaign of a group never change');
END;
CREATE TRIGGER keyword_insert AFTER INSERT ON keyword
WHEN (SELECT version FROM ad_group WHERE id = NEW.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = NEW.group_id;
END;
CREATE TRIGGER keyword_update AFTER UPDATE ON keyword
WHEN (SELECT version FROM ad_group WHERE id = NEW.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = NEW.group_id;
END;
CREATE TRIGGER keyword_delete AFTER DELETE ON keyword
WHEN (SELECT version FROM ad_group WHERE id = OLD.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = OLD.group_id;
END;
CREATE TRIGGER keyword_number AFTER INSERT ON keyword WHEN NEW.id = 0 BEGIN
  UPDATE state SET keyword = keyword + 1;
  UPDATE keyword SET id = (SELECT keyword FROM state) WHERE group_id = NEW.group_id AND words = NEW.words AND type = NEW.type;
END;
CREATE TRIGGER keyword_numbered BEFORE INSERT ON keyword
WHEN NEW.id <> 0 AND (SELECT since FROM state) = 9223372036854775807 BEGIN
  SELECT RAISE(ABORT, 'ids are given by the database: leave the id out');
END;
CREATE TRIGGER keyword_identity BEFORE UPDATE OF id, group_id ON keyword
WHEN NEW.id <> OLD.id AND OLD.id <> 0 OR NEW.group_id <> OLD.group_id BEGIN
  SELECT RAISE(ABORT, 'the id and the owner of a row never change');
END;
CREATE TRIGGER group_negative_insert AFTER INSERT ON group_negative
WHEN (SELECT version FROM ad_group WHERE id = NEW.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = NEW.group_id;
END;
CREATE TRIGGER group_negative_update AFTER UPDATE ON group_negative
WHEN (SELECT version FROM ad_group WHERE id = NEW.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = NEW.group_id;
END;
CREATE TRIGGER group_negative_delete AFTER DELETE ON group_negative
WHEN (SELECT version FROM ad_group WHERE id = OLD.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = OLD.group_id;
END;
CREATE TRIGGER group_negative_number AFTER INSERT ON group_negative WHEN NEW.id = 0 BEGIN
  UPDATE state SET negative = negative + 1;
  UPDATE group_negative SET id = (SELECT negative FROM state) WHERE group_id = NEW.group_id AND words = NEW.words AND type = NEW.type;
END;
CREATE TRIGGER group_negative_numbered BEFORE INSERT ON group_negative
WHEN NEW.id <> 0 AND (SELECT since FROM state) = 9223372036854775807 BEGIN
  SELECT RAISE(ABORT, 'ids are given by the database: leave the id out');
END;
CREATE TRIGGER group_negative_identity BEFORE UPDATE OF id, group_id ON group_negative
WHEN NEW.id <> OLD.id AND OLD.id <> 0 OR NEW.group_id <> OLD.group_id BEGIN
  SELECT RAISE(ABORT, 'the id and the owner of a row never change');
END;
CREATE TRIGGER ad_insert AFTER INSERT ON ad
WHEN (SELECT version FROM ad_group WHERE id = NEW.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = NEW.group_id;
END;
CREATE TRIGGER ad_update AFTER UPDATE ON ad
WHEN (SELECT version FROM ad_group WHERE id = NEW.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = NEW.group_id;
END;
CREATE TRIGGER ad_delete AFTER DELETE ON ad
WHEN (SELECT version FROM ad_group WHERE id = OLD.group_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, g.id, c.advertiser_id, c.id FROM ad_group g JOIN campaign c ON c.id = g.campaign_id WHERE g.id = OLD.group_id;
END;
CREATE TRIGGER ad_number AFTER INSERT ON ad WHEN NEW.id = 0 BEGIN
  UPDATE state SET ad = ad + 1;
  UPDATE ad SET id = (SELECT ad FROM state) WHERE group_id = NEW.group_id AND headlines = NEW.headlines AND descriptions = NEW.descriptions AND path1 = NEW.path1 AND path2 = NEW.path2 AND final_url = NEW.final_url;
END;
CREATE TRIGGER ad_numbered BEFORE INSERT ON ad
WHEN NEW.id <> 0 AND (SELECT since FROM state) = 9223372036854775807 BEGIN
  SELECT RAISE(ABORT, 'ids are given by the database: leave the id out');
END;
CREATE TRIGGER ad_identity BEFORE UPDATE OF id, group_id ON ad
WHEN NEW.id <> OLD.id AND OLD.id <> 0 OR NEW.group_id <> OLD.group_id BEGIN
  SELECT RAISE(ABORT, 'the id and the owner of a row never change');
END;
CREATE TRIGGER campaign_negative_insert AFTER INSERT ON campaign_negative
WHEN (SELECT version FROM campaign WHERE id = NEW.campaign_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id)
    SELECT 2, id, advertiser_id FROM campaign WHERE id = NEW.campaign_id;
END;
CREATE TRIGGER campaign_negative_update AFTER UPDATE ON campaign_negative
WHEN (SELECT version FROM campaign WHERE id = NEW.campaign_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id)
    SELECT 2, id, advertiser_id FROM campaign WHERE id = NEW.campaign_id;
END;
CREATE TRIGGER campaign_negative_delete AFTER DELETE ON campaign_negative
WHEN (SELECT version FROM campaign WHERE id = OLD.campaign_id) <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id)
    SELECT 2, id, advertiser_id FROM campaign WHERE id = OLD.campaign_id;
END;
CREATE TRIGGER campaign_negative_number AFTER INSERT ON campaign_negative WHEN NEW.id = 0 BEGIN
  UPDATE state SET negative = negative + 1;
  UPDATE campaign_negative SET id = (SELECT negative FROM state) WHERE campaign_id = NEW.campaign_id AND words = NEW.words AND type = NEW.type;
END;
CREATE TRIGGER campaign_negative_numbered BEFORE INSERT ON campaign_negative
WHEN NEW.id <> 0 AND (SELECT since FROM state) = 9223372036854775807 BEGIN
  SELECT RAISE(ABORT, 'ids are given by the database: leave the id out');
END;
CREATE TRIGGER campaign_negative_identity BEFORE UPDATE OF id, campaign_id ON campaign_negative
WHEN NEW.id <> OLD.id AND OLD.id <> 0 OR NEW.campaign_id <> OLD.campaign_id BEGIN
  SELECT RAISE(ABORT, 'the id and the owner of a row never change');
END;
CREATE TRIGGER change_log_advertiser AFTER INSERT ON change_log WHEN NEW.kind = 1 AND NOT NEW.removed BEGIN
  UPDATE advertiser SET version = NEW.clock WHERE id = NEW.id;
END;
CREATE TRIGGER change_log_campaign AFTER INSERT ON change_log WHEN NEW.kind = 2 AND NOT NEW.removed BEGIN
  UPDATE campaign SET version = NEW.clock WHERE id = NEW.id;
END;
CREATE TRIGGER change_log_ad_group AFTER INSERT ON change_log WHEN NEW.kind = 3 AND NOT NEW.removed BEGIN
  UPDATE ad_group SET version = NEW.clock WHERE id = NEW.id;
END;
CREATE TRIGGER change_log_delete AFTER DELETE ON change_log WHEN OLD.clock > (SELECT compacted FROM state) BEGIN
  UPDATE state SET compacted = OLD.clock, compacted_mark = OLD.mark;
END;
CREATE TRIGGER change_log_unsum_advertiser AFTER DELETE ON change_log
WHEN OLD.kind = 1 AND EXISTS (SELECT 1 FROM advertiser WHERE id = OLD.id AND version = OLD.clock AND summed < version) BEGIN
  UPDATE advertiser SET sum = 6364136223846793005, summed = version WHERE id = OLD.id;
  UPDATE state SET unsummed = 1;
END;
CREATE TRIGGER change_log_unsum_campaign AFTER DELETE ON change_log
WHEN OLD.kind = 2 AND EXISTS (SELECT 1 FROM campaign WHERE id = OLD.id AND version = OLD.clock AND summed < version) BEGIN
  UPDATE campaign SET sum = 6364136223846793005, summed = version WHERE id = OLD.id;
  UPDATE state SET unsummed = 1;
END;
CREATE TRIGGER change_log_unsum_ad_group AFTER DELETE ON change_log
WHEN OLD.kind = 3 AND EXISTS (SELECT 1 FROM ad_group WHERE id = OLD.id AND version = OLD.clock AND summed < version) BEGIN
  UPDATE ad_group SET sum = 6364136223846793005, summed = version WHERE id = OLD.id;
  UPDATE state SET unsummed = 1;
END;
CREATE TRIGGER control_unsum AFTER UPDATE OF value ON control WHEN NEW.sum IS OLD.sum AND NEW.value IS NOT OLD.value BEGIN
  UPDATE control SET sum = NULL WHERE key = NEW.key;
END;
CREATE TRIGGER advertiser_update AFTER UPDATE OF name, enabled, time_zone ON advertiser
WHEN NEW.version <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id) VALUES (1, NEW.id);
END;
CREATE TRIGGER campaign_update
AFTER UPDATE OF name, enabled, budget_exhausted, withheld, daily_budget, desktop, mobile, tablet, rotate_evenly, standard_delivery ON campaign
WHEN NEW.version <= (SELECT since FROM state) AND NEW.languages = OLD.languages BEGIN
  INSERT INTO change_log (kind, id, advertiser_id) VALUES (2, NEW.id, NEW.advertiser_id);
END;
INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (1, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (2, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (3, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (4, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (5, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (6, 1);
INSERT INTO goose_db_version (version_id, is_applied) VALUES (7, 1);
INSERT INTO control (key, value) VALUES ('database', CAST('0123456789abcdef0123456789abcdef' AS BLOB));
INSERT INTO state (one, since, compacted, keyword, negative, ad, compacted_mark, unsummed) VALUES (1, 9223372036854775807, 0, 0, 0, 0, 0, 1);

-- Brings a database of schema 7, the newest before this schema that was used, to it: holds, versions of words, and negatives
-- of advertisers.

-- +goose Up
-- What holds a campaign or group, which is then served as paused whatever its status is (backend.Hold).
ALTER TABLE campaign ADD COLUMN hold INTEGER NOT NULL DEFAULT 0 CHECK (hold >= 0);
ALTER TABLE ad_group ADD COLUMN hold INTEGER NOT NULL DEFAULT 0 CHECK (hold >= 0);
CREATE INDEX campaign_hold ON campaign (hold) WHERE hold <> 0;
CREATE INDEX ad_group_hold ON ad_group (hold) WHERE hold <> 0;

DROP TRIGGER campaign_update;
-- +goose StatementBegin
CREATE TRIGGER campaign_update
AFTER UPDATE OF name, enabled, hold, budget_exhausted, withheld, daily_budget, desktop, mobile, tablet, rotate_evenly, standard_delivery ON campaign
WHEN NEW.version <= (SELECT since FROM state) AND NEW.languages = OLD.languages BEGIN
  INSERT INTO change_log (kind, id, advertiser_id) VALUES (2, NEW.id, NEW.advertiser_id);
END;
-- +goose StatementEnd

DROP TRIGGER ad_group_update;
-- +goose StatementBegin
CREATE TRIGGER ad_group_update AFTER UPDATE OF name, enabled, hold, bid, desktop, mobile, tablet ON ad_group
WHEN NEW.version <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id, advertiser_id, campaign_id)
    SELECT 3, NEW.id, advertiser_id, id FROM campaign WHERE id = NEW.campaign_id;
END;
-- +goose StatementEnd

-- The version of words by which the keys of keywords and negatives are made (package rekey), and
-- what was removed because keys became equal.
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
  advertiser_id INTEGER NOT NULL DEFAULT 0, -- of an advertiser's negative, else 0
  PRIMARY KEY (negative, id)
) STRICT, WITHOUT ROWID;

-- Negatives of advertisers, which hold for all of their groups. A change of one is a change of the advertiser.
CREATE TABLE advertiser_negative (
  advertiser_id INTEGER NOT NULL REFERENCES advertiser (id),
  words         TEXT NOT NULL,
  type          INTEGER NOT NULL CHECK (type BETWEEN 0 AND 2),
  id            INTEGER NOT NULL DEFAULT 0,
  text          TEXT NOT NULL,
  enabled       INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  PRIMARY KEY (advertiser_id, words, type)
) STRICT, WITHOUT ROWID;

DROP TRIGGER advertiser_deleted;
-- +goose StatementBegin
CREATE TRIGGER advertiser_deleted AFTER DELETE ON advertiser BEGIN
  INSERT INTO change_log (kind, id, removed) VALUES (1, OLD.id, 1);
  DELETE FROM advertiser_negative WHERE advertiser_id = OLD.id;
END;
-- +goose StatementEnd

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

-- An advertiser that is being removed is gone by then and logs nothing more.
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

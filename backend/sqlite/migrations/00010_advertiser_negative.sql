-- Negatives of advertisers, which hold for all of their groups. A change of one is a change of the advertiser.

-- +goose Up
CREATE TABLE advertiser_negative (
  advertiser_id INTEGER NOT NULL REFERENCES advertiser (id),
  words         TEXT NOT NULL,
  type          INTEGER NOT NULL CHECK (type BETWEEN 0 AND 2),
  id            INTEGER NOT NULL DEFAULT 0,
  text          TEXT NOT NULL,
  enabled       INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  PRIMARY KEY (advertiser_id, words, type)
) STRICT, WITHOUT ROWID;

ALTER TABLE removed_phrase ADD COLUMN advertiser_id INTEGER NOT NULL DEFAULT 0; -- of an advertiser's negative, else 0

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

-- When an advertiser's days begin, and whether a campaign's budget is spread over one.
-- What is there gets the defaults, which count nothing in its sum.

-- +goose Up
ALTER TABLE advertiser ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC'; -- IANA name
ALTER TABLE campaign ADD COLUMN standard_delivery INTEGER NOT NULL DEFAULT 0 CHECK (standard_delivery IN (0, 1)); -- 0: accelerated

DROP TRIGGER advertiser_update;
-- +goose StatementBegin
CREATE TRIGGER advertiser_update AFTER UPDATE OF name, enabled, time_zone ON advertiser
WHEN NEW.version <= (SELECT since FROM state) BEGIN
  INSERT INTO change_log (kind, id) VALUES (1, NEW.id);
END;
-- +goose StatementEnd

DROP TRIGGER campaign_update;
-- +goose StatementBegin
CREATE TRIGGER campaign_update
AFTER UPDATE OF name, enabled, budget_exhausted, daily_budget, desktop, mobile, tablet, rotate_evenly, standard_delivery ON campaign
WHEN NEW.version <= (SELECT since FROM state) AND NEW.languages = OLD.languages BEGIN
  INSERT INTO change_log (kind, id, advertiser_id) VALUES (2, NEW.id, NEW.advertiser_id);
END;
-- +goose StatementEnd

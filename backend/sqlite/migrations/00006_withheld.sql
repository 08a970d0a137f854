-- In how many of a million requests a campaign takes no part.

-- +goose Up
ALTER TABLE campaign ADD COLUMN withheld INTEGER NOT NULL DEFAULT 0 CHECK (withheld BETWEEN 0 AND 1000000);

DROP TRIGGER campaign_update;
-- +goose StatementBegin
CREATE TRIGGER campaign_update
AFTER UPDATE OF name, enabled, budget_exhausted, withheld, daily_budget, desktop, mobile, tablet, rotate_evenly, standard_delivery ON campaign
WHEN NEW.version <= (SELECT since FROM state) AND NEW.languages = OLD.languages BEGIN
  INSERT INTO change_log (kind, id, advertiser_id) VALUES (2, NEW.id, NEW.advertiser_id);
END;
-- +goose StatementEnd

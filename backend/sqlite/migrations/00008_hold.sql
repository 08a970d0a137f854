-- What holds a campaign or group, which is then served as paused whatever its status is (backend.Hold).

-- +goose Up
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

-- What holds a campaign or group, which is then served as paused whatever its status is (backend.Hold).

-- +goose Up
ALTER TABLE adshard.campaign ADD COLUMN hold bigint NOT NULL DEFAULT 0 CHECK (hold >= 0);
ALTER TABLE adshard.ad_group ADD COLUMN hold bigint NOT NULL DEFAULT 0 CHECK (hold >= 0);
CREATE INDEX campaign_hold ON adshard.campaign (id) WHERE hold <> 0;
CREATE INDEX ad_group_hold ON adshard.ad_group (id) WHERE hold <> 0;

DROP TRIGGER updated ON adshard.campaign;
CREATE TRIGGER updated
  AFTER UPDATE OF name, enabled, hold, budget_exhausted, withheld, daily_budget, desktop, mobile, tablet, languages, rotate_evenly,
    standard_delivery
  ON adshard.campaign
  FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION adshard.parent_updated();
DROP TRIGGER updated ON adshard.ad_group;
CREATE TRIGGER updated AFTER UPDATE OF name, enabled, hold, bid, desktop, mobile, tablet ON adshard.ad_group
  FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION adshard.parent_updated();

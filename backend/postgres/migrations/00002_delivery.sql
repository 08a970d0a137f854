-- When an advertiser's days begin, and whether a campaign's budget is spread over one.

-- +goose Up
ALTER TABLE adshard.advertiser ADD COLUMN time_zone text COLLATE "C" NOT NULL DEFAULT 'UTC'; -- IANA name
ALTER TABLE adshard.campaign ADD COLUMN standard_delivery boolean NOT NULL DEFAULT false; -- false: accelerated

DROP TRIGGER updated ON adshard.advertiser;
CREATE TRIGGER updated AFTER UPDATE OF name, enabled, time_zone ON adshard.advertiser
  FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION adshard.parent_updated();
DROP TRIGGER updated ON adshard.campaign;
CREATE TRIGGER updated
  AFTER UPDATE OF name, enabled, budget_exhausted, daily_budget, desktop, mobile, tablet, languages, rotate_evenly, standard_delivery
  ON adshard.campaign
  FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION adshard.parent_updated();

-- In how many of a million requests a campaign takes no part.

-- +goose Up
ALTER TABLE adshard.campaign ADD COLUMN withheld integer NOT NULL DEFAULT 0 CHECK (withheld BETWEEN 0 AND 1000000);

DROP TRIGGER updated ON adshard.campaign;
CREATE TRIGGER updated
  AFTER UPDATE OF name, enabled, budget_exhausted, withheld, daily_budget, desktop, mobile, tablet, languages, rotate_evenly,
    standard_delivery
  ON adshard.campaign
  FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION adshard.parent_updated();

-- Brings a database of schema 4, the newest before this schema that was used, to it: holds, versions of words, and negatives
-- of advertisers.

-- +goose Up
-- What holds a campaign or group, which is then served as paused whatever its status is (backend.Hold).
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

-- The version of words by which the keys of keywords and negatives are made (package rekey), and
-- what was removed because keys became equal.
ALTER TABLE adshard.state ADD COLUMN words text COLLATE "C" NOT NULL DEFAULT 'rules 1; noted by no program';

-- A writer names its version: set_config('adshard.words', …, true). Programs that know no version of words name none.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION adshard.begin_write() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  s adshard.state;
BEGIN
  IF pg_try_advisory_lock(1097093992, 1) THEN
    SELECT * INTO s FROM adshard.state;
    PERFORM setval('adshard.advertiser_id', s.advertiser + 1, false) FROM adshard.advertiser_id WHERE last_value + is_called::int <> s.advertiser + 1;
    PERFORM setval('adshard.campaign_id', s.campaign + 1, false) FROM adshard.campaign_id WHERE last_value + is_called::int <> s.campaign + 1;
    PERFORM setval('adshard.ad_group_id', s.ad_group + 1, false) FROM adshard.ad_group_id WHERE last_value + is_called::int <> s.ad_group + 1;
    PERFORM setval('adshard.keyword_id', s.keyword + 1, false) FROM adshard.keyword_id WHERE last_value + is_called::int <> s.keyword + 1;
    PERFORM setval('adshard.negative_id', s.negative + 1, false) FROM adshard.negative_id WHERE last_value + is_called::int <> s.negative + 1;
    PERFORM setval('adshard.ad_id', s.ad + 1, false) FROM adshard.ad_id WHERE last_value + is_called::int <> s.ad + 1;
    PERFORM pg_advisory_xact_lock_shared(1097093992, 1);
    PERFORM pg_advisory_unlock(1097093992, 1);
  ELSE
    PERFORM pg_advisory_xact_lock_shared(1097093992, 1);
  END IF;
  -- Compared under the lock: a program that names another version waits until the lock is free.
  SELECT * INTO s FROM adshard.state;
  IF s.words IS DISTINCT FROM current_setting('adshard.words', true) THEN
    RAISE EXCEPTION 'the keys of keywords are of words of another version than this program''s: use a newer program' USING ERRCODE = 'AS001';
  END IF;
END $$;
-- +goose StatementEnd

-- Match types are those of keyword. The bid is NULL if there is none, the quality if it is a negative.
CREATE TABLE adshard.removed_phrase (
  negative    boolean NOT NULL,
  id          bigint NOT NULL,
  campaign_id bigint NOT NULL, -- of a campaign's negative, else 0
  group_id    bigint NOT NULL,
  type        smallint NOT NULL,
  text        text COLLATE "C" NOT NULL,
  enabled     boolean NOT NULL,
  bid         bigint,
  quality     smallint,
  kept        bigint NOT NULL, -- the id that it has become one with; 0: none
  why         text NOT NULL,   -- it is no keyword any more
  advertiser_id bigint NOT NULL DEFAULT 0, -- of an advertiser's negative, else 0
  PRIMARY KEY (negative, id)
);

-- Negatives of advertisers, which hold for all of their groups. A change of one is a change of the advertiser.
CREATE TABLE adshard.advertiser_negative (
  advertiser_id bigint NOT NULL REFERENCES adshard.advertiser (id) ON DELETE CASCADE,
  id            bigint NOT NULL DEFAULT adshard.next_id('adshard.negative_id'),
  type          smallint NOT NULL CHECK (type BETWEEN 0 AND 2),
  enabled       boolean NOT NULL DEFAULT true,
  words         text COLLATE "C" NOT NULL CHECK (words <> ''),
  text          text COLLATE "C" NOT NULL,
  PRIMARY KEY (advertiser_id, words, type)
);

-- The advertiser's row is locked as a campaign's is by its negatives.
-- +goose StatementBegin
CREATE FUNCTION adshard.advertiser_content_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  me  xid8 := pg_current_xact_id();
  top bigint;
BEGIN
  SELECT max(id) INTO top FROM changed;
  IF top IS NULL THEN
    RETURN NULL;
  END IF;
  INSERT INTO adshard.pending (tx, kind, id)
    SELECT me, 1, a.id FROM adshard.advertiser a
      WHERE a.id IN (SELECT advertiser_id FROM changed) ORDER BY a.id FOR NO KEY UPDATE
    ON CONFLICT DO NOTHING;
  INSERT INTO adshard.writing AS w (tx, negative) VALUES (me, CASE TG_OP WHEN 'INSERT' THEN top ELSE 0 END)
    ON CONFLICT (tx) DO UPDATE SET negative = greatest(w.negative, EXCLUDED.negative);
  RETURN NULL;
END $$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION adshard.advertiser_content_changed FROM PUBLIC;

CREATE TRIGGER inserted AFTER INSERT ON adshard.advertiser_negative REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION adshard.advertiser_content_changed();
CREATE TRIGGER updated AFTER UPDATE ON adshard.advertiser_negative REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION adshard.advertiser_content_changed();
CREATE TRIGGER deleted AFTER DELETE ON adshard.advertiser_negative REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION adshard.advertiser_content_changed();
CREATE TRIGGER identity BEFORE UPDATE OF id, advertiser_id ON adshard.advertiser_negative
  FOR EACH ROW EXECUTE FUNCTION adshard.identity_changed();
CREATE TRIGGER truncated BEFORE TRUNCATE ON adshard.advertiser_negative EXECUTE FUNCTION adshard.truncated();

-- Roles that may read or write the negatives of campaigns may do the same here, so that their programs go on though
-- adshard db roles was not run again.
-- +goose StatementBegin
DO $$
DECLARE
  g record;
BEGIN
  FOR g IN
    SELECT a.privilege_type AS what, '' AS columns, a.grantee FROM pg_class c, aclexplode(c.relacl) a
      WHERE c.oid = 'adshard.campaign_negative'::regclass AND a.grantee <> c.relowner
    UNION ALL
    SELECT a.privilege_type, format('(%I)', c.attname), a.grantee FROM pg_attribute c, aclexplode(c.attacl) a
      WHERE c.attrelid = 'adshard.campaign_negative'::regclass AND c.attname IN ('text', 'enabled')
  LOOP
    EXECUTE format('GRANT %s %s ON adshard.advertiser_negative TO %s', g.what, g.columns,
      CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END);
  END LOOP;
END $$;
-- +goose StatementEnd

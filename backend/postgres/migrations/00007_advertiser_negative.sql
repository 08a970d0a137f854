-- Negatives of advertisers, which hold for all of their groups. A change of one is a change of the advertiser.

-- +goose Up
CREATE TABLE adshard.advertiser_negative (
  advertiser_id bigint NOT NULL REFERENCES adshard.advertiser (id) ON DELETE CASCADE,
  id            bigint NOT NULL DEFAULT adshard.next_id('adshard.negative_id'),
  type          smallint NOT NULL CHECK (type BETWEEN 0 AND 2),
  enabled       boolean NOT NULL DEFAULT true,
  words         text COLLATE "C" NOT NULL CHECK (words <> ''),
  text          text COLLATE "C" NOT NULL,
  PRIMARY KEY (advertiser_id, words, type)
);

ALTER TABLE adshard.removed_phrase ADD COLUMN advertiser_id bigint NOT NULL DEFAULT 0; -- of an advertiser's negative, else 0

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

-- The version of words by which the keys of keywords and negatives are made (package rekey), and
-- what was removed because keys became equal.

-- +goose Up
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
  PRIMARY KEY (negative, id)
);

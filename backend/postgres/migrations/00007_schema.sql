-- The schema. Package postgres's documentation says how clocks and ids work
-- and what each lock is held for.

-- +goose Up

-- Bytes are compared, not words of a language: natural keys are exact, and an
-- update of the system's locales cannot make an index wrong.
CREATE TABLE adshard.advertiser (
  id      bigint PRIMARY KEY,
  name    text COLLATE "C" NOT NULL UNIQUE,
  enabled boolean NOT NULL DEFAULT true,
  version bigint NOT NULL DEFAULT 0, -- clock of the last change; given at its commit
  time_zone text COLLATE "C" NOT NULL DEFAULT 'UTC' -- IANA name: when its days begin
) WITH (fillfactor = 50); -- room for the row with its version on the same page

CREATE TABLE adshard.campaign (
  id               bigint PRIMARY KEY,
  advertiser_id    bigint NOT NULL REFERENCES adshard.advertiser (id) ON DELETE CASCADE,
  name             text COLLATE "C" NOT NULL,
  enabled          boolean NOT NULL DEFAULT true,
  budget_exhausted boolean NOT NULL DEFAULT false,
  daily_budget     bigint CHECK (daily_budget >= 0), -- micros; NULL: none
  -- Bid modifiers in permille; NULL: not set.
  desktop          smallint CHECK (desktop BETWEEN 0 AND 10000),
  mobile           smallint CHECK (mobile BETWEEN 0 AND 10000),
  tablet           smallint CHECK (tablet BETWEEN 0 AND 10000),
  languages        text COLLATE "C" NOT NULL DEFAULT '', -- lower-case codes, sorted, joined by a space
  rotate_evenly    boolean NOT NULL DEFAULT false,
  version          bigint NOT NULL DEFAULT 0,
  standard_delivery boolean NOT NULL DEFAULT false, -- false: accelerated
  -- In how many of a million requests it takes no part.
  withheld         integer NOT NULL DEFAULT 0 CHECK (withheld BETWEEN 0 AND 1000000),
  -- What holds it: it is then served as paused whatever its status is (backend.Hold).
  hold             bigint NOT NULL DEFAULT 0 CHECK (hold >= 0),
  UNIQUE (advertiser_id, name),
  UNIQUE (id, advertiser_id)
) WITH (fillfactor = 50);
CREATE INDEX campaign_hold ON adshard.campaign (id) WHERE hold <> 0;

-- A group names its advertiser too, so that the log can when both are removed.
CREATE TABLE adshard.ad_group (
  id            bigint PRIMARY KEY,
  campaign_id   bigint NOT NULL,
  advertiser_id bigint NOT NULL,
  name          text COLLATE "C" NOT NULL,
  enabled       boolean NOT NULL DEFAULT true,
  bid           bigint CHECK (bid >= 0), -- default bid, micros; NULL: none
  desktop       smallint CHECK (desktop BETWEEN 0 AND 10000),
  mobile        smallint CHECK (mobile BETWEEN 0 AND 10000),
  tablet        smallint CHECK (tablet BETWEEN 0 AND 10000),
  version       bigint NOT NULL DEFAULT 0, -- of the group and all that it holds
  hold          bigint NOT NULL DEFAULT 0 CHECK (hold >= 0), -- as a campaign's
  UNIQUE (campaign_id, name),
  FOREIGN KEY (campaign_id, advertiser_id) REFERENCES adshard.campaign (id, advertiser_id) ON DELETE CASCADE
) WITH (fillfactor = 50);
CREATE INDEX ad_group_hold ON adshard.ad_group (id) WHERE hold <> 0;

-- What groups hold. That its group exists is checked, and it is removed with its
-- group, by the triggers below: a foreign key would look at each row by itself,
-- which takes longer than all else that COPY does. Match types: 0 exact, 1 phrase, 2 broad.
CREATE TABLE adshard.keyword (
  group_id bigint NOT NULL, -- the triggers see to it that there is one
  id       bigint NOT NULL,
  bid      bigint CHECK (bid >= 0), -- own bid, micros; NULL: the group's
  type     smallint NOT NULL CHECK (type BETWEEN 0 AND 2),
  quality  smallint NOT NULL DEFAULT 5 CHECK (quality BETWEEN 1 AND 10),
  enabled  boolean NOT NULL DEFAULT true,
  words    text COLLATE "C" NOT NULL CHECK (words <> ''), -- normalised, joined by one space
  text     text COLLATE "C" NOT NULL, -- as given
  -- The quality that was learned, with its counts (backend.Learned); 0: none.
  learned  bigint NOT NULL DEFAULT 0 CHECK (learned = 0 OR learned > 0 AND (learned & 15) BETWEEN 1 AND 10),
  PRIMARY KEY (group_id, words, type)
);

CREATE TABLE adshard.group_negative (
  group_id bigint NOT NULL, -- the triggers see to it that there is one
  id       bigint NOT NULL,
  type     smallint NOT NULL CHECK (type BETWEEN 0 AND 2),
  enabled  boolean NOT NULL DEFAULT true,
  words    text COLLATE "C" NOT NULL CHECK (words <> ''),
  text     text COLLATE "C" NOT NULL,
  PRIMARY KEY (group_id, words, type)
);

CREATE TABLE adshard.campaign_negative (
  campaign_id bigint NOT NULL REFERENCES adshard.campaign (id) ON DELETE CASCADE,
  id          bigint NOT NULL,
  type        smallint NOT NULL CHECK (type BETWEEN 0 AND 2),
  enabled     boolean NOT NULL DEFAULT true,
  words       text COLLATE "C" NOT NULL CHECK (words <> ''),
  text        text COLLATE "C" NOT NULL,
  PRIMARY KEY (campaign_id, words, type)
);

CREATE TABLE adshard.advertiser_negative (
  advertiser_id bigint NOT NULL REFERENCES adshard.advertiser (id) ON DELETE CASCADE,
  id            bigint NOT NULL,
  type          smallint NOT NULL CHECK (type BETWEEN 0 AND 2),
  enabled       boolean NOT NULL DEFAULT true,
  words         text COLLATE "C" NOT NULL CHECK (words <> ''),
  text          text COLLATE "C" NOT NULL,
  PRIMARY KEY (advertiser_id, words, type)
);

-- The content is too long for an index, which has a hash of it instead.
CREATE TABLE adshard.ad (
  group_id     bigint NOT NULL,
  id           bigint NOT NULL,
  enabled      boolean NOT NULL DEFAULT true,
  headlines    text COLLATE "C" NOT NULL, -- JSON array of strings
  descriptions text COLLATE "C" NOT NULL, -- JSON array of strings
  path1        text COLLATE "C" NOT NULL DEFAULT '',
  path2        text COLLATE "C" NOT NULL DEFAULT '',
  final_url    text COLLATE "C" NOT NULL DEFAULT '',
  content      text COLLATE "C" NOT NULL GENERATED ALWAYS AS
    (md5(md5(headlines) || md5(descriptions) || md5(path1) || md5(path2) || md5(final_url))) STORED,
  PRIMARY KEY (group_id, content)
);

-- The log of changes. Kinds: 1 advertiser, 2 campaign, 3 group.
CREATE TABLE adshard.change_log (
  clock         bigint PRIMARY KEY,
  mark          bigint NOT NULL CHECK (mark <> 0),
  id            bigint NOT NULL,
  advertiser_id bigint NOT NULL, -- of a campaign or group, else 0
  campaign_id   bigint NOT NULL, -- of a group, else 0
  kind          smallint NOT NULL CHECK (kind BETWEEN 1 AND 3),
  removed       boolean NOT NULL
);

-- One row: the newest change, and the highest ids of committed rows. Its lock
-- orders the commits; nothing but give_clocks may take it.
CREATE TABLE adshard.state (
  one         boolean PRIMARY KEY DEFAULT true CHECK (one),
  database_id text NOT NULL,
  clock       bigint NOT NULL DEFAULT 0,
  mark        bigint NOT NULL DEFAULT 0,
  advertiser  bigint NOT NULL DEFAULT 0,
  campaign    bigint NOT NULL DEFAULT 0,
  ad_group    bigint NOT NULL DEFAULT 0,
  keyword     bigint NOT NULL DEFAULT 0,
  negative    bigint NOT NULL DEFAULT 0,
  ad          bigint NOT NULL DEFAULT 0,
  -- The version of words by which the keys of keywords and negatives are made (package rekey).
  words       text COLLATE "C" NOT NULL DEFAULT 'rules 1; noted by no program'
) WITH (fillfactor = 10);
INSERT INTO adshard.state (database_id)
  VALUES (left(encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'hex'), 32));

-- One row, apart from state so that a compaction holds no commit up: the last
-- change that has left the log.
CREATE TABLE adshard.compacted (
  one   boolean PRIMARY KEY DEFAULT true CHECK (one),
  clock bigint NOT NULL DEFAULT 0,
  mark  bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);
INSERT INTO adshard.compacted DEFAULT VALUES;

CREATE TABLE adshard.feed_reader (
  name    text COLLATE "C" PRIMARY KEY,
  clock   bigint NOT NULL,
  held_at timestamptz NOT NULL
);

CREATE TABLE adshard.control (
  key   text COLLATE "C" PRIMARY KEY,
  value bytea NOT NULL
);

-- What was removed because keys became equal. Match types are those of keyword. The bid is NULL if there is none, the quality if it is a negative.
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

-- What open transactions have changed. Rows live until their transaction ends, so
-- that no write-ahead log is needed for them. writing has the highest ids that a
-- transaction has used; give_clocks is called once for each of its rows.
CREATE UNLOGGED TABLE adshard.writing (
  tx         xid8 PRIMARY KEY,
  advertiser bigint NOT NULL DEFAULT 0,
  campaign   bigint NOT NULL DEFAULT 0,
  ad_group   bigint NOT NULL DEFAULT 0,
  keyword    bigint NOT NULL DEFAULT 0,
  negative   bigint NOT NULL DEFAULT 0,
  ad         bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50, vacuum_truncate = false);

CREATE SEQUENCE adshard.pending_step;
CREATE UNLOGGED TABLE adshard.pending (
  tx            xid8 NOT NULL,
  kind          smallint NOT NULL,
  id            bigint NOT NULL,
  step          bigint NOT NULL DEFAULT nextval('adshard.pending_step'), -- the order within the transaction
  advertiser_id bigint NOT NULL DEFAULT 0,
  campaign_id   bigint NOT NULL DEFAULT 0,
  removed       boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tx, kind, id)
) WITH (vacuum_truncate = false);

CREATE SEQUENCE adshard.advertiser_id;
CREATE SEQUENCE adshard.campaign_id;
CREATE SEQUENCE adshard.ad_group_id;
CREATE SEQUENCE adshard.keyword_id;
CREATE SEQUENCE adshard.negative_id;
CREATE SEQUENCE adshard.ad_id;

-- Ids. A transaction that takes any holds the lock (1097093992, 1) shared until it
-- ends. Whoever holds it alone knows that all ids above those in state are unused.

-- +goose StatementBegin
CREATE FUNCTION adshard.take_ids(sequence text, n integer) RETURNS bigint[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  of regclass;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(1097093992, 1);
  of := ('adshard.' || quote_ident(sequence || '_id'))::regclass;
  RETURN ARRAY(SELECT nextval(of) FROM generate_series(1, least(n, 10000)));
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION adshard.next_id(sequence regclass) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(1097093992, 1);
  RETURN nextval(sequence);
END $$;
-- +goose StatementEnd

ALTER TABLE adshard.advertiser ALTER COLUMN id SET DEFAULT adshard.next_id('adshard.advertiser_id');
ALTER TABLE adshard.campaign ALTER COLUMN id SET DEFAULT adshard.next_id('adshard.campaign_id');
ALTER TABLE adshard.ad_group ALTER COLUMN id SET DEFAULT adshard.next_id('adshard.ad_group_id');
ALTER TABLE adshard.keyword ALTER COLUMN id SET DEFAULT adshard.next_id('adshard.keyword_id');
ALTER TABLE adshard.group_negative ALTER COLUMN id SET DEFAULT adshard.next_id('adshard.negative_id');
ALTER TABLE adshard.campaign_negative ALTER COLUMN id SET DEFAULT adshard.next_id('adshard.negative_id');
ALTER TABLE adshard.advertiser_negative ALTER COLUMN id SET DEFAULT adshard.next_id('adshard.negative_id');
ALTER TABLE adshard.ad ALTER COLUMN id SET DEFAULT adshard.next_id('adshard.ad_id');

-- begin_write is called first by transactions that may take ids: what those that
-- were rolled back had taken is given again, if no other such transaction is open.
-- A writer names its version of words: set_config('adshard.words', …, true). Programs that know no version of words name none.
-- +goose StatementBegin
CREATE FUNCTION adshard.begin_write() RETURNS void
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

-- give_clocks runs when a transaction commits: it gives its changes the next
-- clocks, and the entities their versions. Their rows are locked already, so
-- that nothing here waits but for state.
-- +goose StatementBegin
CREATE FUNCTION adshard.give_clocks() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  me   xid8 := NEW.tx;
  base bigint;
  last bigint;
BEGIN
  SELECT clock INTO base FROM adshard.state FOR UPDATE;
  INSERT INTO adshard.change_log (clock, mark, kind, id, advertiser_id, campaign_id, removed)
    SELECT base + row_number() OVER (ORDER BY removed, CASE WHEN removed THEN -kind END, step), -- content before its owner
      ('x' || left(encode(uuid_send(gen_random_uuid()), 'hex'), 16))::bit(64)::bigint, -- a digit of it is 4
      kind, id, advertiser_id, campaign_id, removed
    FROM adshard.pending WHERE tx = me;
  GET DIAGNOSTICS last = ROW_COUNT;
  last := base + last;
  DELETE FROM adshard.pending WHERE tx = me;
  UPDATE adshard.advertiser e SET version = l.clock FROM adshard.change_log l
    WHERE l.clock > base AND l.clock <= last AND l.kind = 1 AND NOT l.removed AND e.id = l.id;
  UPDATE adshard.campaign e SET version = l.clock FROM adshard.change_log l
    WHERE l.clock > base AND l.clock <= last AND l.kind = 2 AND NOT l.removed AND e.id = l.id;
  UPDATE adshard.ad_group e SET version = l.clock FROM adshard.change_log l
    WHERE l.clock > base AND l.clock <= last AND l.kind = 3 AND NOT l.removed AND e.id = l.id;
  UPDATE adshard.state s SET
    clock = last, mark = coalesce((SELECT l.mark FROM adshard.change_log l WHERE l.clock = last), s.mark),
    advertiser = greatest(s.advertiser, w.advertiser), campaign = greatest(s.campaign, w.campaign),
    ad_group = greatest(s.ad_group, w.ad_group), keyword = greatest(s.keyword, w.keyword),
    negative = greatest(s.negative, w.negative), ad = greatest(s.ad, w.ad)
    FROM adshard.writing w WHERE w.tx = me;
  -- A change after this, as when constraints were made immediate, begins again.
  DELETE FROM adshard.writing WHERE tx = me;
  NOTIFY adshard_clock;
  RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE CONSTRAINT TRIGGER give_clocks AFTER INSERT ON adshard.writing
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION adshard.give_clocks();

-- gave_ids notes the highest ids that a transaction has given, of rows that it
-- removed before they were written, too: they are not given again.
-- +goose StatementBegin
CREATE FUNCTION adshard.gave_ids(keyword bigint, negative bigint, ad bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO adshard.writing AS w (tx, keyword, negative, ad)
    SELECT pg_current_xact_id(), least($1, k.last_value), least($2, n.last_value), least($3, a.last_value)
    FROM adshard.keyword_id k, adshard.negative_id n, adshard.ad_id a
    ON CONFLICT (tx) DO UPDATE SET keyword = greatest(w.keyword, EXCLUDED.keyword),
      negative = greatest(w.negative, EXCLUDED.negative), ad = greatest(w.ad, EXCLUDED.ad);
$$;
-- +goose StatementEnd

-- Advertisers, campaigns and groups. The row of what has changed is locked by the
-- change itself. All triggers insert into writing last: where constraints were made
-- immediate, that calls give_clocks, which must find what is pending.
-- +goose StatementBegin
CREATE FUNCTION adshard.advertisers_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM changed) THEN
    RETURN NULL;
  END IF;
  INSERT INTO adshard.pending (tx, kind, id, removed)
    SELECT pg_current_xact_id(), 1, id, TG_OP = 'DELETE' FROM changed ORDER BY id
    ON CONFLICT (tx, kind, id) DO UPDATE SET removed = EXCLUDED.removed, step = EXCLUDED.step WHERE EXCLUDED.removed;
  INSERT INTO adshard.writing AS w (tx, advertiser)
    SELECT pg_current_xact_id(), CASE TG_OP WHEN 'INSERT' THEN max(id) ELSE 0 END FROM changed
    ON CONFLICT (tx) DO UPDATE SET advertiser = greatest(w.advertiser, EXCLUDED.advertiser);
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION adshard.campaigns_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM changed) THEN
    RETURN NULL;
  END IF;
  INSERT INTO adshard.pending (tx, kind, id, advertiser_id, removed)
    SELECT pg_current_xact_id(), 2, id, advertiser_id, TG_OP = 'DELETE' FROM changed ORDER BY id
    ON CONFLICT (tx, kind, id) DO UPDATE SET removed = EXCLUDED.removed, step = EXCLUDED.step WHERE EXCLUDED.removed;
  INSERT INTO adshard.writing AS w (tx, campaign)
    SELECT pg_current_xact_id(), CASE TG_OP WHEN 'INSERT' THEN max(id) ELSE 0 END FROM changed
    ON CONFLICT (tx) DO UPDATE SET campaign = greatest(w.campaign, EXCLUDED.campaign);
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION adshard.groups_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM changed) THEN
    RETURN NULL;
  END IF;
  INSERT INTO adshard.pending (tx, kind, id, advertiser_id, campaign_id, removed)
    SELECT pg_current_xact_id(), 3, id, advertiser_id, campaign_id, TG_OP = 'DELETE' FROM changed ORDER BY id
    ON CONFLICT (tx, kind, id) DO UPDATE SET removed = EXCLUDED.removed, step = EXCLUDED.step WHERE EXCLUDED.removed;
  IF TG_OP = 'DELETE' THEN
    DELETE FROM adshard.keyword WHERE group_id IN (SELECT id FROM changed);
    DELETE FROM adshard.group_negative WHERE group_id IN (SELECT id FROM changed);
    DELETE FROM adshard.ad WHERE group_id IN (SELECT id FROM changed);
  END IF;
  INSERT INTO adshard.writing AS w (tx, ad_group)
    SELECT pg_current_xact_id(), CASE TG_OP WHEN 'INSERT' THEN max(id) ELSE 0 END FROM changed
    ON CONFLICT (tx) DO UPDATE SET ad_group = greatest(w.ad_group, EXCLUDED.ad_group);
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- A trigger of a row is not called for a new version, since that names no other
-- column.
-- +goose StatementBegin
CREATE FUNCTION adshard.parent_updated() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  me xid8 := pg_current_xact_id();
BEGIN
  CASE TG_TABLE_NAME
  WHEN 'advertiser' THEN
    INSERT INTO adshard.pending (tx, kind, id) VALUES (me, 1, NEW.id) ON CONFLICT DO NOTHING;
  WHEN 'ad_group' THEN
    INSERT INTO adshard.pending (tx, kind, id, advertiser_id, campaign_id)
      VALUES (me, 3, NEW.id, NEW.advertiser_id, NEW.campaign_id) ON CONFLICT DO NOTHING;
  ELSE
    INSERT INTO adshard.pending (tx, kind, id, advertiser_id) VALUES (me, 2, NEW.id, NEW.advertiser_id) ON CONFLICT DO NOTHING;
    -- The terms of groups depend on the languages: all change, after the campaign.
    IF NEW.languages <> OLD.languages THEN
      INSERT INTO adshard.pending (tx, kind, id, advertiser_id, campaign_id)
        SELECT me, 3, g.id, g.advertiser_id, g.campaign_id FROM adshard.ad_group g WHERE g.campaign_id = NEW.id
          ORDER BY g.id FOR NO KEY UPDATE
        ON CONFLICT (tx, kind, id) DO UPDATE SET step = EXCLUDED.step;
    END IF;
  END CASE;
  INSERT INTO adshard.writing (tx) VALUES (me) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- What groups and campaigns hold. The owner's row is locked here, before the
-- commit, so that give_clocks never waits for it, and so that the owner is not
-- removed meanwhile.
-- +goose StatementBegin
CREATE FUNCTION adshard.group_content_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  me  xid8 := pg_current_xact_id();
  top bigint;
BEGIN
  SELECT max(id) INTO top FROM changed;
  IF top IS NULL THEN
    RETURN NULL;
  END IF;
  PERFORM FROM adshard.ad_group g WHERE g.id IN (SELECT group_id FROM changed) ORDER BY g.id FOR NO KEY UPDATE;
  IF TG_OP = 'INSERT' AND EXISTS (SELECT FROM changed c LEFT JOIN adshard.ad_group g ON g.id = c.group_id WHERE g.id IS NULL) THEN
    RAISE EXCEPTION 'a row of % belongs to no ad group', TG_TABLE_NAME USING ERRCODE = 'foreign_key_violation';
  END IF;
  INSERT INTO adshard.pending (tx, kind, id, advertiser_id, campaign_id)
    SELECT me, 3, g.id, g.advertiser_id, g.campaign_id FROM adshard.ad_group g
      WHERE g.id IN (SELECT group_id FROM changed) ORDER BY g.id
    ON CONFLICT DO NOTHING;
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO adshard.writing (tx) VALUES (me) ON CONFLICT DO NOTHING;
  ELSIF TG_TABLE_NAME = 'keyword' THEN
    INSERT INTO adshard.writing AS w (tx, keyword) VALUES (me, top)
      ON CONFLICT (tx) DO UPDATE SET keyword = greatest(w.keyword, EXCLUDED.keyword);
  ELSIF TG_TABLE_NAME = 'ad' THEN
    INSERT INTO adshard.writing AS w (tx, ad) VALUES (me, top)
      ON CONFLICT (tx) DO UPDATE SET ad = greatest(w.ad, EXCLUDED.ad);
  ELSE
    INSERT INTO adshard.writing AS w (tx, negative) VALUES (me, top)
      ON CONFLICT (tx) DO UPDATE SET negative = greatest(w.negative, EXCLUDED.negative);
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION adshard.campaign_content_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  me  xid8 := pg_current_xact_id();
  top bigint;
BEGIN
  SELECT max(id) INTO top FROM changed;
  IF top IS NULL THEN
    RETURN NULL;
  END IF;
  INSERT INTO adshard.pending (tx, kind, id, advertiser_id)
    SELECT me, 2, c.id, c.advertiser_id FROM adshard.campaign c
      WHERE c.id IN (SELECT campaign_id FROM changed) ORDER BY c.id FOR NO KEY UPDATE
    ON CONFLICT DO NOTHING;
  INSERT INTO adshard.writing AS w (tx, negative) VALUES (me, CASE TG_OP WHEN 'INSERT' THEN top ELSE 0 END)
    ON CONFLICT (tx) DO UPDATE SET negative = greatest(w.negative, EXCLUDED.negative);
  RETURN NULL;
END $$;
-- +goose StatementEnd

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

-- Whatever leaves the log, a reader behind it must hear of it.
-- +goose StatementBegin
CREATE FUNCTION adshard.log_shortened() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE adshard.compacted c SET clock = l.clock, mark = l.mark
    FROM (SELECT clock, mark FROM changed ORDER BY clock DESC LIMIT 1) l WHERE l.clock > c.clock;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION adshard.identity_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the id and the owner of a row never change' USING ERRCODE = 'check_violation';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION adshard.truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'readers of the log would not learn of it: use DELETE' USING ERRCODE = 'feature_not_supported';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE
  t record;
BEGIN
  FOR t IN SELECT * FROM (VALUES
      ('advertiser', 'advertisers_changed', 'id'),
      ('campaign', 'campaigns_changed', 'id, advertiser_id'),
      ('ad_group', 'groups_changed', 'id, campaign_id, advertiser_id'),
      ('keyword', 'group_content_changed', 'id, group_id'),
      ('group_negative', 'group_content_changed', 'id, group_id'),
      ('campaign_negative', 'campaign_content_changed', 'id, campaign_id'),
      ('advertiser_negative', 'advertiser_content_changed', 'id, advertiser_id'),
      ('ad', 'group_content_changed', 'id, group_id')) AS v (name, function, identity) LOOP
    EXECUTE format('CREATE TRIGGER inserted AFTER INSERT ON adshard.%I REFERENCING NEW TABLE AS changed'
      ' FOR EACH STATEMENT EXECUTE FUNCTION adshard.%I()', t.name, t.function);
    EXECUTE format('CREATE TRIGGER deleted AFTER DELETE ON adshard.%I REFERENCING OLD TABLE AS changed'
      ' FOR EACH STATEMENT EXECUTE FUNCTION adshard.%I()', t.name, t.function);
    EXECUTE format('CREATE TRIGGER identity BEFORE UPDATE OF %s ON adshard.%I FOR EACH ROW'
      ' EXECUTE FUNCTION adshard.identity_changed()', t.identity, t.name);
    EXECUTE format('CREATE TRIGGER truncated BEFORE TRUNCATE ON adshard.%I'
      ' EXECUTE FUNCTION adshard.truncated()', t.name);
    IF t.name NOT IN ('advertiser', 'campaign', 'ad_group') THEN
      EXECUTE format('CREATE TRIGGER updated AFTER UPDATE ON adshard.%I REFERENCING NEW TABLE AS changed'
        ' FOR EACH STATEMENT EXECUTE FUNCTION adshard.%I()', t.name, t.function);
    END IF;
  END LOOP;
END $$;
-- +goose StatementEnd

CREATE TRIGGER updated AFTER UPDATE OF name, enabled, time_zone ON adshard.advertiser
  FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION adshard.parent_updated();
CREATE TRIGGER updated
  AFTER UPDATE OF name, enabled, hold, budget_exhausted, withheld, daily_budget, desktop, mobile, tablet, languages, rotate_evenly,
    standard_delivery
  ON adshard.campaign
  FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION adshard.parent_updated();
CREATE TRIGGER updated AFTER UPDATE OF name, enabled, hold, bid, desktop, mobile, tablet ON adshard.ad_group
  FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION adshard.parent_updated();
CREATE TRIGGER shortened AFTER DELETE ON adshard.change_log REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION adshard.log_shortened();
CREATE TRIGGER truncated BEFORE TRUNCATE ON adshard.change_log EXECUTE FUNCTION adshard.truncated();

-- save_control writes a value if guard has the value was (NULL: it is missing) or
-- is itself NULL, and reports whether it did. Control values are written one after another.
-- +goose StatementBegin
CREATE FUNCTION adshard.save_control(k text, v bytea, guard text, was bytea) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(1097093992, 2);
  IF guard IS NOT NULL AND (SELECT value FROM adshard.control WHERE key = guard) IS DISTINCT FROM was THEN
    RETURN false;
  END IF;
  INSERT INTO adshard.control (key, value) VALUES (k, v) ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value;
  RETURN true;
END $$;
-- +goose StatementEnd

-- Nobody may do anything until it is granted (roles.sql).
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA adshard FROM PUBLIC;

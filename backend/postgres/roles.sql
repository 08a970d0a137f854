-- Roles with the least privileges, for the database of adshard (adshard db roles). Run this as
-- the owner of the schema, who may create roles, after the first import has made the schema; running it
-- again does no harm. Then make a login for each program and grant it one of these:
--   CREATE ROLE balancer LOGIN; GRANT adshard_serve TO balancer;

DO $$
BEGIN
  IF to_regrole('adshard_read') IS NULL THEN CREATE ROLE adshard_read NOLOGIN; END IF;
  IF to_regrole('adshard_import') IS NULL THEN CREATE ROLE adshard_import NOLOGIN; END IF;
  IF to_regrole('adshard_serve') IS NULL THEN CREATE ROLE adshard_serve NOLOGIN; END IF;
  IF to_regrole('adshard_collect') IS NULL THEN CREATE ROLE adshard_collect NOLOGIN; END IF;
END $$;

-- Distributors, barrels build: everything is read, nothing written.
GRANT USAGE ON SCHEMA adshard TO adshard_read;
GRANT SELECT ON ALL TABLES IN SCHEMA adshard TO adshard_read;
-- All but the keys that sign event tokens (docs/events.md): with these every budget can be spent.
-- The balancer and collectors, which have this role too, read them.
ALTER TABLE adshard.control ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS granted ON adshard.control;
CREATE POLICY granted ON adshard.control USING (true);
DROP POLICY IF EXISTS event_keys ON adshard.control;
CREATE POLICY event_keys ON adshard.control AS RESTRICTIVE FOR SELECT TO adshard_read
  USING (key NOT LIKE '%/event-keys' OR pg_has_role(current_user, 'adshard_serve', 'USAGE')
    OR pg_has_role(current_user, 'adshard_collect', 'USAGE'));

-- Imports: advertisers' data, not the log and not the balancer's state.
GRANT USAGE ON SCHEMA adshard TO adshard_import;
GRANT SELECT ON adshard.advertiser, adshard.campaign, adshard.ad_group, adshard.keyword, adshard.group_negative,
  adshard.campaign_negative, adshard.advertiser_negative, adshard.ad, adshard.state, adshard.compacted, adshard.change_log, adshard.goose_db_version,
  adshard.document, adshard.document_part TO adshard_import;
GRANT INSERT, DELETE ON adshard.advertiser, adshard.campaign, adshard.ad_group, adshard.keyword, adshard.group_negative,
  adshard.campaign_negative, adshard.advertiser_negative, adshard.ad TO adshard_import;
GRANT INSERT, UPDATE, DELETE ON adshard.document, adshard.document_part TO adshard_import;
GRANT UPDATE (enabled, time_zone, categories) ON adshard.advertiser TO adshard_import;
GRANT UPDATE (enabled, desktop, mobile, tablet, daily_budget, standard_delivery, languages, rotate_evenly, label, start_date, end_date, schedule, locations, location_presence, exclusion_presence, audiences, sites, categories) ON adshard.campaign TO adshard_import;
GRANT UPDATE (enabled, bid, desktop, mobile, tablet, audiences, sites) ON adshard.ad_group TO adshard_import;
GRANT UPDATE (text, enabled, bid, quality, learned, final_url) ON adshard.keyword TO adshard_import;
GRANT UPDATE (text, enabled) ON adshard.group_negative, adshard.campaign_negative, adshard.advertiser_negative TO adshard_import;
GRANT UPDATE (enabled) ON adshard.ad TO adshard_import;
-- Renames, and what is held until its file has come to its end.
GRANT UPDATE (name, hold) ON adshard.campaign, adshard.ad_group TO adshard_import;
GRANT EXECUTE ON FUNCTION adshard.take_ids, adshard.next_id, adshard.gave_ids, adshard.begin_write TO adshard_import;

-- The balancer: its own state, marks of budgets, compaction of the log.
GRANT adshard_read TO adshard_serve;
GRANT INSERT, UPDATE, DELETE ON adshard.control TO adshard_serve;
-- Of its state it deletes receipts of requests alone. To change data over HTTP (docs/data.md), its login needs
-- adshard_import, too.
DROP POLICY IF EXISTS receipts ON adshard.control;
CREATE POLICY receipts ON adshard.control AS RESTRICTIVE FOR DELETE TO adshard_serve USING (key LIKE 'receipt/%');
GRANT INSERT, UPDATE, DELETE ON adshard.feed_reader TO adshard_serve;
-- Of documents, the vocabulary of keywords alone.
GRANT INSERT, UPDATE, DELETE ON adshard.document, adshard.document_part TO adshard_serve;
DO $$
DECLARE
  own CONSTANT text := '(name IN (''vocabulary'', ''vocabulary/in-force'') OR pg_has_role(current_user, ''adshard_import'', ''USAGE''))';
  t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['document', 'document_part'] LOOP
    EXECUTE format('ALTER TABLE adshard.%I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('DROP POLICY IF EXISTS granted ON adshard.%I', t);
    EXECUTE format('CREATE POLICY granted ON adshard.%I USING (true)', t);
    EXECUTE format('DROP POLICY IF EXISTS made ON adshard.%I', t);
    EXECUTE format('CREATE POLICY made ON adshard.%I AS RESTRICTIVE FOR INSERT TO adshard_serve WITH CHECK %s', t, own);
    EXECUTE format('DROP POLICY IF EXISTS changed ON adshard.%I', t);
    EXECUTE format('CREATE POLICY changed ON adshard.%I AS RESTRICTIVE FOR UPDATE TO adshard_serve USING %s', t, own);
    EXECUTE format('DROP POLICY IF EXISTS removed ON adshard.%I', t);
    EXECUTE format('CREATE POLICY removed ON adshard.%I AS RESTRICTIVE FOR DELETE TO adshard_serve USING %s', t, own);
  END LOOP;
END $$;
GRANT DELETE ON adshard.change_log TO adshard_serve;
GRANT UPDATE (budget_exhausted, withheld) ON adshard.campaign TO adshard_serve;
GRANT EXECUTE ON FUNCTION adshard.save_control TO adshard_serve;
-- What campaigns have spent, for the console, if the tables of events (docs/events.md) are in this database. Collectors that make
-- them later, in any database of the server, grant the same.
DO $$
BEGIN
  IF to_regclass('adshard_events.spent') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA adshard_events TO adshard_serve;
    GRANT SELECT ON adshard_events.spent TO adshard_serve;
    GRANT SELECT (format) ON adshard_events.horizon TO adshard_serve;
    IF to_regclass('adshard_events.identity') IS NOT NULL THEN
      GRANT SELECT ON adshard_events.identity TO adshard_serve;
    END IF;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'the schema adshard_events is another role''s: for balancers to show what campaigns have spent, run this as that role or as a superuser, too';
END $$;

-- Collectors: keys of tokens, notes of pacing, learning, erasures and of the database of events in the control state, marks and shares of campaigns. The
-- schema of events is theirs to make (GRANT CREATE ON DATABASE … TO the login), or is made for them by its owner.
GRANT adshard_read TO adshard_collect;
GRANT INSERT, UPDATE ON adshard.control TO adshard_collect;
-- No more than these notes: with the lease, the epoch or the model a collector's login would own the cluster.
DROP POLICY IF EXISTS notes_made ON adshard.control;
CREATE POLICY notes_made ON adshard.control AS RESTRICTIVE FOR INSERT TO adshard_collect
  WITH CHECK (key LIKE ANY (ARRAY['%/event-keys', '%/pacing', '%/learning', 'erasures', 'events-database', 'events-marks']) OR pg_has_role(current_user, 'adshard_serve', 'USAGE'));
DROP POLICY IF EXISTS notes_changed ON adshard.control;
CREATE POLICY notes_changed ON adshard.control AS RESTRICTIVE FOR UPDATE TO adshard_collect
  USING (key LIKE ANY (ARRAY['%/event-keys', '%/pacing', '%/learning', 'erasures', 'events-database', 'events-marks']) OR pg_has_role(current_user, 'adshard_serve', 'USAGE'));
GRANT UPDATE (budget_exhausted, withheld) ON adshard.campaign TO adshard_collect;
GRANT EXECUTE ON FUNCTION adshard.save_control TO adshard_collect;

-- Documents: the table of places, block lists (backend.Document).

-- +goose Up
CREATE TABLE adshard.document (
  name    text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL UNIQUE, -- grows with each change of any document
  size    bigint NOT NULL CHECK (size >= 0), -- bytes of all parts
  sum     bigint NOT NULL,
  removed boolean NOT NULL DEFAULT false -- it has no parts, and keeps its version
);

CREATE TABLE adshard.document_part (
  name text COLLATE "C" NOT NULL REFERENCES adshard.document (name),
  part integer NOT NULL CHECK (part >= 0), -- from 0
  data bytea NOT NULL,
  PRIMARY KEY (name, part)
);
ALTER TABLE adshard.document_part ALTER COLUMN data SET STORAGE EXTERNAL; -- it is compressed already

-- Roles that may read or import keywords may read or import documents, too.
-- +goose StatementBegin
DO $$
DECLARE
  g record;
BEGIN
  FOR g IN SELECT a.grantee, a.privilege_type FROM pg_class c, aclexplode(c.relacl) a
    WHERE c.oid = 'adshard.keyword'::regclass AND a.privilege_type IN ('SELECT', 'INSERT')
  LOOP
    EXECUTE format('GRANT %s ON adshard.document, adshard.document_part TO %s',
      CASE g.privilege_type WHEN 'SELECT' THEN 'SELECT' ELSE 'INSERT, UPDATE, DELETE' END,
      CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END);
  END LOOP;
END $$;
-- +goose StatementEnd

-- Documents: the table of places, block lists (backend.Document).

-- +goose Up
CREATE TABLE document (
  name    TEXT PRIMARY KEY,
  version INTEGER NOT NULL UNIQUE, -- grows with each change of any document
  size    INTEGER NOT NULL CHECK (size >= 0), -- bytes of all parts
  sum     INTEGER NOT NULL,
  removed INTEGER NOT NULL DEFAULT 0 CHECK (removed IN (0, 1)) -- it has no parts, and keeps its version
) STRICT, WITHOUT ROWID;

CREATE TABLE document_part (
  name TEXT NOT NULL REFERENCES document (name),
  part INTEGER NOT NULL CHECK (part >= 0), -- from 0
  data BLOB NOT NULL,
  PRIMARY KEY (name, part)
) STRICT;

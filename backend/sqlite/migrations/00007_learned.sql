-- The quality that was learned of a keyword, with its counts (backend.Learned); 0: none.

-- +goose Up
ALTER TABLE keyword ADD COLUMN learned INTEGER NOT NULL DEFAULT 0 CHECK (learned = 0 OR learned > 0 AND (learned & 15) BETWEEN 1 AND 10);

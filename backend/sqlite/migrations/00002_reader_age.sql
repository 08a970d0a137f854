-- Readers of the feed that have not held for long keep nothing back.

-- +goose Up
ALTER TABLE feed_reader ADD COLUMN held_at INTEGER NOT NULL DEFAULT 0; -- nanoseconds since 1970

package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"adshard/fault"
)

// LoadControl implements backend.Store.
func (s *Store) LoadControl(ctx context.Context, key string) (value []byte, err error) {
	err = s.read(ctx, "load control", func(c *pgx.Conn) (err error) {
		value, err = control(ctx, c, key)
		return err
	})
	return value, err
}

// lockControl is SQL that waits until no other transaction writes control values (save_control).
const lockControl = "SELECT pg_advisory_xact_lock(1097093992, 2)"

// querier is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// control returns a key's value, or nil if it is missing.
func control(ctx context.Context, c querier, key string) (value []byte, err error) {
	err = c.QueryRow(ctx, "SELECT value FROM adshard.control WHERE key = $1", key).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return value, err
}

// SaveControl implements backend.Store.
func (s *Store) SaveControl(ctx context.Context, key string, value []byte) error {
	_, err := s.saveControl(ctx, key, value, nil, nil)
	return err
}

// SaveControlIf implements backend.Store.
func (s *Store) SaveControlIf(ctx context.Context, key string, value []byte, guard string, was []byte) error {
	saved, err := s.saveControl(ctx, key, value, &guard, was)
	if err == nil && !saved {
		err = fault.Newf(fault.Conflict, "postgres: save control", "%s is not saved, since %s has changed", key, guard)
	}
	return err
}

func (s *Store) saveControl(ctx context.Context, key string, value []byte, guard *string, was []byte) (saved bool, err error) {
	if value == nil {
		value = []byte{} // not NULL
	}
	err = s.write(ctx, "save control", "SELECT adshard.save_control($1, $2, $3, $4)", []any{key, value, guard, was}, &saved)
	return saved, err
}

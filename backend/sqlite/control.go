package sqlite

import (
	"bytes"
	"context"

	"adshard/fault"

	zs "zombiezen.com/go/sqlite"
)

// LoadControl implements backend.Store.
func (s *Store) LoadControl(ctx context.Context, key string) ([]byte, error) {
	var value []byte
	err := s.read(ctx, "load control", func(c *conn) (err error) {
		value, err = c.control(key)
		return err
	})
	return value, err
}

// SaveControl implements backend.Store.
func (s *Store) SaveControl(ctx context.Context, key string, value []byte) error {
	return s.write(ctx, "save control", func(c *conn) error { return c.setControl(key, value) })
}

// SaveControlIf implements backend.Store.
func (s *Store) SaveControlIf(ctx context.Context, key string, value []byte, guard string, was []byte) error {
	return s.write(ctx, "save control", func(c *conn) error {
		now, err := c.control(guard)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, was) || (now == nil) != (was == nil) {
			return fault.Newf(fault.Conflict, "sqlite: save control", "%s is not saved, since %s has changed", key, guard)
		}
		return c.setControl(key, value)
	})
}

// control returns a key's value; nil: it is missing.
func (c *conn) control(key string) ([]byte, error) {
	var value []byte
	err := c.query("SELECT value FROM control WHERE key = ?", func(st *zs.Stmt) error {
		value = make([]byte, st.ColumnLen(0))
		st.ColumnBytes(0, value)
		return nil
	}, key)
	return value, err
}

func (c *conn) setControl(key string, value []byte) error {
	return c.exec("INSERT INTO control (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2", key, value)
}

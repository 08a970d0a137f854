package sqlite

import (
	"bytes"
	"context"

	"github.com/cespare/xxhash/v2"
	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/fault"
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
		if err := c.expect(guard, was); err != nil {
			return err
		}
		return c.setControl(key, value)
	})
}

// expect returns fault.Conflict if a key has a different value than `was`. If was is nil, the key must be missing.
func (c *conn) expect(guard string, was []byte) error {
	now, err := c.control(guard)
	if err == nil && (!bytes.Equal(now, was) || (now == nil) != (was == nil)) {
		err = fault.Newf(fault.Conflict, "sqlite: control", "nothing is changed, since %s has a different value than expected", guard)
	}
	return err
}

// control returns the value of a key, or nil if it is missing. It returns fault.Corrupt if the value is damaged.
func (c *conn) control(key string) ([]byte, error) {
	var value []byte
	damaged := false
	err := c.query("SELECT value, sum FROM control WHERE key = ?", func(st *zs.Stmt) error {
		value = make([]byte, st.ColumnLen(0))
		st.ColumnBytes(0, value)
		damaged = !st.ColumnIsNull(1) && controlSum(key, value) != st.ColumnInt64(1)
		return nil
	}, key)
	if damaged {
		return nil, corrupt("load control", &backend.Damage{Problem: "the control value " + key + " differs from what was written"})
	}
	return value, err
}

func (c *conn) setControl(key string, value []byte) error {
	return c.exec("INSERT INTO control (key, value, sum) VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE SET value = ?2, sum = ?3",
		key, value, controlSum(key, value))
}

// controlSum returns the sum of a control value. Other programs do not store it.
func controlSum(key string, value []byte) int64 {
	d := xxhash.New()
	_, _ = d.WriteString(key)
	_, _ = d.Write([]byte{0})
	_, _ = d.Write(value)
	return int64(d.Sum64())
}

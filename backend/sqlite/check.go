package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/fault"
)

var _ backend.Checker = (*Store)(nil)

// Check implements backend.Checker.
func (s *Store) Check(ctx context.Context, progress func(what string, done, total int64)) (*backend.CheckReport, error) {
	if progress == nil {
		progress = func(string, int64, int64) {}
	}
	k := &checking{s: s, progress: progress, report: &backend.CheckReport{Damage: []*backend.Damage{}}}
	c, err := s.pool.take(ctx, false)
	if err != nil {
		return nil, describe(ctx, "check", s.path, err)
	}
	if err = c.exec("BEGIN"); err == nil {
		k.c = c
		err = s.readOn(ctx, "check", c, func(c *conn) error { return k.all(ctx) })
	}
	if again := s.endRead(c); err == nil {
		err = again
	}
	return k.report, err
}

// checking is the state of a running Check.
type checking struct {
	s        *Store
	c        *conn
	progress func(what string, done, total int64)
	report   *backend.CheckReport
}

func (k *checking) all(ctx context.Context) error {
	expected, err := expectedSchema(ctx, k.s.options.schema)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		k.unfinished, k.structure, func() error { return k.schema(expected) }, k.owners, k.log, k.control, k.documents, k.advertisers, k.campaigns, k.groups,
	} {
		if err := k.found(ctx, step()); err != nil {
			return err
		}
	}
	return nil
}

// damaged adds damage to the report.
func (k *checking) damaged(d backend.Damage) { k.report.Damage = append(k.report.Damage, &d) }

func (k *checking) problem(format string, args ...any) {
	k.damaged(backend.Damage{Problem: fmt.Sprintf(format, args...)})
}

// found adds err to the report if it is damage, and returns any other error.
func (k *checking) found(ctx context.Context, err error) error {
	err = describe(ctx, "check", k.s.path, err)
	if !fault.Is(err, fault.Corrupt) {
		return err
	}
	var d *backend.Damage
	if asDamage(err, &d) {
		k.damaged(*d)
	} else {
		k.problem("%v", err)
	}
	return nil
}

// structure makes SQLite check every page, index and constraint.
func (k *checking) structure() error {
	k.progress("structure of the file", 0, 0)
	return k.c.query("PRAGMA integrity_check(10000)", func(st *zs.Stmt) error {
		if text := st.ColumnText(0); text != "ok" {
			k.problem("structure: %s", text)
		}
		return nil
	})
}

// schema compares the tables, indexes and triggers with those of a new database. Additional ones are accepted.
func (k *checking) schema(expected map[string]string) error {
	now, err := readSchema(k.c)
	if err != nil {
		return err
	}
	for name, sql := range expected {
		if now[name] != sql {
			k.problem("schema: %s differs from what this program creates", name)
		}
	}
	return nil
}

func readSchema(c *conn) (map[string]string, error) {
	objects := make(map[string]string)
	err := c.query("SELECT type || ' ' || name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'", func(st *zs.Stmt) error {
		objects[st.ColumnText(0)] = st.ColumnText(1) + ": " + bare(st.ColumnText(2))
		return nil
	})
	return objects, err
}

var (
	comments   = regexp.MustCompile(`--[^\n]*`)
	spaces     = regexp.MustCompile(`\s+`)
	separators = regexp.MustCompile(` ?([(),]) ?`)
)

// bare returns a statement of the schema without comments or layout, which change when a column is added later.
func bare(sql string) string {
	return separators.ReplaceAllString(spaces.ReplaceAllString(comments.ReplaceAllString(sql, ""), " "), "$1")
}

// expectedSchema returns the objects that a new database of a schema has.
func expectedSchema(ctx context.Context, of schema) (map[string]string, error) {
	dir, err := os.MkdirTemp("", "adshard-check-*")
	if err != nil {
		return nil, fault.New(fault.Unavailable, "sqlite: check", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "new.db")
	if err := prepare(ctx, path, Options{Create: true, schema: of}.withDefaults()); err != nil {
		return nil, err
	}
	c, err := connect(path, 0)
	if err != nil {
		return nil, failed(ctx, "check", path, err)
	}
	defer c.Close()
	return readSchema(c)
}

// owners finds rows with a missing owner.
func (k *checking) owners() error {
	k.progress("owners of rows", 0, 0)
	return k.c.query(`SELECT "table", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2`, func(st *zs.Stmt) error {
		k.problem("%d rows of %s belong to no %s", st.ColumnInt64(2), st.ColumnText(0), st.ColumnText(1))
		return nil
	})
}

// control checks the control values.
func (k *checking) control() error {
	var keys []string
	err := k.c.query("SELECT key FROM control", func(st *zs.Stmt) error {
		keys = append(keys, st.ColumnText(0))
		return nil
	})
	for _, key := range keys {
		if err == nil {
			_, err = k.c.control(key)
			err = k.found(context.Background(), err)
		}
	}
	if err == nil {
		_, err = k.c.id()
	}
	return err
}

package sqlite

import (
	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
)

// log compares the log with the entities that it names.
func (k *checking) log() error {
	k.progress("log of changes", 0, 0)
	log, err := k.c.state()
	if err != nil {
		return err
	}
	newest := log.compacted.Clock
	err = k.c.query(selectChange, func(st *zs.Stmt) error {
		change, err := scanChange(st)
		if err != nil {
			k.problem("log: the entry at clock %d differs from what was written", st.ColumnInt64(0))
		}
		newest = max(newest, change.Clock)
		return nil
	})
	if err != nil {
		return err
	}
	next, err := k.c.number("SELECT seq FROM sqlite_sequence WHERE name = 'change_log'")
	if err == nil && uint64(next) != newest {
		k.problem("log: the next clock would follow %d, the newest one is %d", next, newest)
	}
	for kind, table := range tables {
		if table != "" && err == nil {
			err = k.versions(backend.Kind(kind), table, log)
		}
	}
	return err
}

// versions compares the versions of entities with the log, in both directions.
func (k *checking) versions(kind backend.Kind, table string, log state) error {
	damage := func(problem string) func(*zs.Stmt) error {
		return func(st *zs.Stmt) error {
			k.damaged(backend.Damage{Kind: kind, ID: uint64(st.ColumnInt64(0)), Problem: problem})
			return nil
		}
	}
	err := k.c.query("SELECT e.id FROM "+table+` e LEFT JOIN change_log l ON l.clock = e.version
  WHERE e.version > ? AND (l.clock IS NULL OR l.kind <> ? OR l.id <> e.id OR l.removed)`,
		damage("its version is not that of a change in the log"), log.compacted.Clock, int64(kind))
	if err == nil {
		err = k.c.query(`SELECT l.id FROM (SELECT id, max(clock) AS clock, removed FROM change_log WHERE kind = ? GROUP BY id) l
  LEFT JOIN `+table+` e ON e.id = l.id WHERE l.clock > ? AND (l.removed = (e.id IS NOT NULL) OR e.version <> l.clock)`,
			damage("it contradicts the log"), int64(kind), log.compacted.Clock)
	}
	return err
}

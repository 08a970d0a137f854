package sqlite

import (
	"context"
	"math"

	"adshard/backend"
	"adshard/fault"

	zs "zombiezen.com/go/sqlite"
)

const (
	// clockQuery reads the clock: SQLite keeps the log's last key there, also
	// when the log is empty.
	clockQuery = "SELECT seq FROM sqlite_sequence WHERE name = 'change_log'"
	markQuery  = "SELECT mark FROM change_log WHERE clock = ?"
)

// idKey is the control value that holds the database's id; a migration makes it.
const idKey = "database"

// ID implements backend.Feed.
func (s *Store) ID(ctx context.Context) (string, error) {
	var id []byte
	err := s.read(ctx, "id", func(c *conn) (err error) {
		id, err = c.id()
		return err
	})
	return string(id), err
}

func (c *conn) id() ([]byte, error) {
	id, err := c.control(idKey)
	if err == nil && len(id) == 0 {
		err = fault.Newf(fault.Corrupt, "sqlite: id", "the database has lost its id: restore it from a copy")
	}
	return id, err
}

// sameID checks that the database has the id that it was opened with.
func (c *conn) sameID() error {
	id, err := c.id()
	if err == nil && string(id) != c.of.id {
		err = c.of.lost("has another id than before, "+string(id)+" and not "+c.of.id, "start this program anew")
	}
	return err
}

// Newest implements backend.Feed.
func (s *Store) Newest(ctx context.Context) (backend.Position, error) {
	var p backend.Position
	err := s.reading(ctx, "newest change", func(c *conn) (err error) {
		p, err = c.newest()
		return err
	})
	return p, err
}

// At implements backend.Feed.
func (s *Store) At(ctx context.Context, clock uint64) (backend.Position, error) {
	var p backend.Position
	err := s.reading(ctx, "position", func(c *conn) error {
		log, err := c.compacted()
		if err != nil {
			return err
		}
		if p, err = log.at(c, clock); err == nil && p.Clock != clock {
			err = fault.Newf(fault.NotFound, "sqlite: position", "there is no change at clock %d (yet)", clock)
		}
		return err
	})
	return p, err
}

// follows checks that a reader which has seen the log up to p can go on here.
func (c *conn) follows(p backend.Position) error {
	const op = "sqlite: changes"
	log, err := c.compacted()
	if err != nil {
		return err
	}
	here, err := log.at(c, p.Clock)
	switch {
	case err != nil || p.Mark == 0:
		return err
	case here.Clock != p.Clock:
		return fault.Newf(fault.Conflict, op, "the log has no change at clock %d: the position is of another history of this database", p.Clock)
	case here.Mark != p.Mark && (here.Mark != 0 || p.Clock == 0):
		return fault.Newf(fault.Conflict, op, "the change at clock %d has mark %x, not %x: the position is of another history of this database",
			p.Clock, here.Mark, p.Mark)
	}
	return nil
}

// tail is the end of the log that was compacted: the position of the last
// change that is gone. Its mark is 0 when an earlier program removed it.
type tail backend.Position

func (c *conn) compacted() (t tail, err error) {
	err = c.query("SELECT compacted, compacted_mark FROM state", func(st *zs.Stmt) error {
		t = tail{Clock: uint64(st.ColumnInt64(0)), Mark: uint64(st.ColumnInt64(1))}
		return nil
	})
	return t, err
}

// at returns the position at a clock, the zero Position when there is no such
// change. Errors: fault.Stale.
func (t tail) at(c *conn, clock uint64) (backend.Position, error) {
	switch {
	case clock < t.Clock:
		return backend.Position{}, fault.Newf(fault.Stale, "sqlite: changes",
			"the changes after clock %d are gone, those up to %d were compacted: start again from a snapshot", clock, t.Clock)
	case clock == t.Clock:
		return backend.Position(t), nil
	case clock > math.MaxInt64:
		return backend.Position{}, nil
	}
	mark, err := c.number(markQuery, clock)
	if err != nil || mark == 0 {
		return backend.Position{}, err
	}
	return backend.Position{Clock: clock, Mark: uint64(mark)}, nil
}

// newest returns the position of the newest change.
func (c *conn) newest() (backend.Position, error) {
	clock, err := c.number(clockQuery)
	if err != nil || clock == 0 {
		return backend.Position{}, err
	}
	mark, err := c.number(markQuery, clock)
	if err != nil || mark != 0 {
		return backend.Position{Clock: uint64(clock), Mark: uint64(mark)}, err
	}
	end, err := c.compacted()
	if err != nil || end.Clock != uint64(clock) {
		return backend.Position{Clock: uint64(clock)}, err
	}
	return backend.Position(end), nil
}

// clock returns the clock of the newest change.
func (s *Store) clock(ctx context.Context) (uint64, error) {
	var clock int64
	err := s.read(ctx, "clock", func(c *conn) (err error) {
		clock, err = c.number(clockQuery)
		return err
	})
	return uint64(clock), err
}

package sqlite

import (
	"context"
	"math"

	"adshard/backend"
	"adshard/fault"
)

// idKey is the key of the control value with the database's id; a migration creates it.
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

// sameID returns an error unless the database has the id that it was opened with.
func (c *conn) sameID() error {
	id, err := c.id()
	if err == nil && string(id) != c.of.id {
		err = c.of.lost("has a different id than before, "+string(id)+" and not "+c.of.id, "restart this program")
	}
	return err
}

// Newest implements backend.Feed. Every caller that waits for changes calls it often, so the log is read only if
// something was committed since the last call.
func (s *Store) Newest(ctx context.Context) (backend.Position, error) {
	var p backend.Position
	err := s.read(ctx, "newest change", func(c *conn) error {
		// The version is read first, so that a commit in between is noticed by the next call.
		version, err := c.number("PRAGMA data_version")
		if err != nil {
			return err
		}
		if c.looked == nil || c.looked.version != version {
			if p, err = c.newestNow(); err != nil {
				return err
			}
			c.looked = &look{version, p}
		}
		p = c.looked.newest
		return nil
	})
	return p, err
}

// look is the newest change that a connection has read. The version changes when another connection commits, in this
// or any other process.
type look struct {
	version int64
	newest  backend.Position
}

func (c *conn) newestNow() (p backend.Position, err error) {
	err = c.inRead(func() error {
		p, err = c.newest()
		return err
	})
	return p, err
}

// At implements backend.Feed.
func (s *Store) At(ctx context.Context, clock uint64) (backend.Position, error) {
	var p backend.Position
	err := s.reading(ctx, "position", func(c *conn) error {
		log, err := c.state()
		if err != nil {
			return err
		}
		if p, err = c.at(log.compacted, clock); err == nil && p.Clock != clock {
			err = fault.Newf(fault.NotFound, "sqlite: position", "there is no change at clock %d yet", clock)
		}
		return err
	})
	return p, err
}

// follows returns an error unless a reader that has read the log up to p can continue here.
func (c *conn) follows(p backend.Position) error {
	const op = "sqlite: changes"
	log, err := c.state()
	if err != nil {
		return err
	}
	here, err := c.at(log.compacted, p.Clock)
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

// at returns the position at a clock, or the zero Position if there is no such change. `end` is the position of the
// newest compacted change. Errors: fault.Stale if the change was compacted, fault.Corrupt.
func (c *conn) at(end backend.Position, clock uint64) (backend.Position, error) {
	switch {
	case clock < end.Clock:
		return backend.Position{}, fault.Newf(fault.Stale, "sqlite: changes",
			"the changes after clock %d are gone, since those up to %d were compacted: start again from a snapshot", clock, end.Clock)
	case clock == end.Clock:
		return end, nil
	case clock > math.MaxInt64:
		return backend.Position{}, nil
	}
	e, _, err := c.entry(clock)
	return backend.Position{Clock: e.Clock, Mark: e.Mark}, err
}

// newest returns the position of the newest change. It is taken from the log and the newest compacted change, not
// from the number that SQLite keeps for the next key.
func (c *conn) newest() (backend.Position, error) {
	log, err := c.state()
	if err != nil {
		return backend.Position{}, err
	}
	end, err := c.number("SELECT coalesce(max(clock), 0) FROM change_log")
	if err != nil || uint64(end) <= log.compacted.Clock {
		return log.compacted, err
	}
	e, _, err := c.entry(uint64(end))
	return backend.Position{Clock: e.Clock, Mark: e.Mark}, err
}

// alignClock makes the next clock follow the newest one, whose position it returns. SQLite maintains the number of
// the next key itself. If that number is damaged, a change would get a clock that readers have already passed.
func (c *conn) alignClock() (backend.Position, error) {
	p, err := c.newest()
	if err != nil {
		return p, err
	}
	seq, err := c.number("SELECT seq FROM sqlite_sequence WHERE name = 'change_log'")
	if err != nil || uint64(seq) == p.Clock {
		return p, err
	}
	if err := c.exec("DELETE FROM sqlite_sequence WHERE name = 'change_log'"); err != nil {
		return p, err
	}
	return p, c.exec("INSERT INTO sqlite_sequence (name, seq) VALUES ('change_log', ?)", p.Clock)
}

// clock returns the clock of the newest change.
func (s *Store) clock(ctx context.Context) (uint64, error) {
	p, err := s.Newest(ctx)
	return p.Clock, err
}

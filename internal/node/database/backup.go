package database

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"strings"

	"adshard/backend"
	"adshard/backend/sqlite"
	eventfile "adshard/events/store/sqlite"
	"adshard/fault"
	"adshard/internal/outfile"
)

// Backup copies a database file into a new directory (sqlite.Backup), together with the file of its events as of the
// same moment, unless `events` is "". Errors: also fault.Conflict if the events belong to another database. Files that
// cannot be written to are read in the way of OpenReading.
func Backup(ctx context.Context, path, events, to string, progress sqlite.Progress) (m *sqlite.Manifest, err error) {
	from, err := readable(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.remove()) }()
	if events == "" {
		return sqlite.Backup(ctx, from.path, to, sqlite.Options{}, progress)
	}
	id, err := idOf(ctx, from.path)
	if err != nil {
		return nil, err
	}
	counted, err := readable(ctx, events)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, counted.remove()) }()
	held, err := eventfile.Hold(ctx, counted.path, id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	return sqlite.BackupWithEvents(ctx, from.path, to, held, sqlite.Options{}, progress)
}

// idOf returns the id of the database in a file.
func idOf(ctx context.Context, path string) (string, error) {
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return "", err
	}
	id, err := s.ID(ctx)
	return id, errors.Join(err, s.Close())
}

// Restored is the result of Restore.
type Restored struct {
	sqlite.Restored
	// Events says that the backup's events are in place. KeptEvents is the present path of the events that they
	// replaced, or "" if there were none.
	Events     bool
	KeptEvents string
}

// Restore puts the database of a backup into a file (sqlite.Restore), and its events into another one, unless `events`
// is "". The two files must be apart (outfile.CheckApart). Both are checked before either is put in place; the database
// stays unfinished until the events are in place. With `replace`, existing events are kept under another name; they must
// belong to the same database.
func Restore(ctx context.Context, from, path, events string, replace bool, progress sqlite.Progress) (*Restored, error) {
	if err := errors.Join(free(path, false), freeEvents(events, path), outfile.CheckReplaced(path)); err != nil {
		return nil, err
	}
	if events == "" {
		r, err := sqlite.Restore(ctx, from, path, replace, sqlite.Options{}, progress)
		if r == nil {
			return nil, err
		}
		return &Restored{Restored: *r}, err
	}
	if err := errors.Join(outfile.CheckApart(path, events), outfile.CheckReplaced(events)); err != nil {
		return nil, err
	}
	m, err := sqlite.ReadManifest(from)
	if err != nil {
		return nil, err
	}
	copied, err := sqlite.FetchEvents(ctx, m, from, events)
	if err != nil {
		return nil, err
	}
	defer copied.Remove()
	err = eventfile.Check(ctx, copied.File, m.Database)
	if err == nil {
		err = mayReplaceEvents(ctx, m, events, copied.Present(), replace)
	}
	if err != nil {
		return nil, err
	}
	making := backend.Making{By: "restore", Of: rand.Text(), Do: "run it again, with --replace"}
	r, err := sqlite.Restore(ctx, from, path, replace, sqlite.Options{Making: making}, progress)
	if r == nil {
		return nil, err
	}
	out := &Restored{Restored: *r}
	if err == nil {
		out.KeptEvents, err = copied.Put()
	}
	if err == nil {
		err = finish(ctx, path, making)
		out.Events = err == nil
	}
	return out, err
}

// freeEvents returns an error for a file for events of the database at path if another database would take that file for
// its own.
func freeEvents(events, path string) error {
	if of, is := strings.CutSuffix(events, "-events"); is && outfile.Same(of, path) {
		return free(events, true)
	}
	return free(events, false)
}

// finish marks the database in a file as complete.
func finish(ctx context.Context, path string, m backend.Making) error {
	s, err := sqlite.Open(ctx, path, sqlite.Options{Making: m})
	if err != nil {
		return err
	}
	return errors.Join(s.Finish(ctx, m), s.Close())
}

// mayReplaceEvents returns an error if there are events already, unless `replace` is set and they belong to the same
// database.
func mayReplaceEvents(ctx context.Context, m *sqlite.Manifest, path string, present, replace bool) error {
	const op = "restore"
	if !present {
		return nil
	}
	if !replace {
		return fault.Newf(fault.Conflict, op, "there are events %s already: --replace puts the backup's in their place and keeps them beside it", path)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil // a restore that was killed has left parts behind
	}
	of, err := eventfile.Of(ctx, path)
	switch {
	case fault.Is(err, fault.Corrupt):
		return nil // damage may be the reason for replacing them
	case err != nil:
		return err
	case of != "" && of != m.Database:
		return fault.Newf(fault.Conflict, op, "%s are the events of another database (%.40s) than the backup's (%.40s): move them away first if that is intended", path, of, m.Database)
	}
	return nil
}

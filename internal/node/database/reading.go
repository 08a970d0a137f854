package database

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/events/store"
	eventfile "adshard/events/store/sqlite"
	"adshard/fault"
)

// OpenReading opens a database for programs that only read it, such as a report. SQLite cannot read a database
// without writing next to it, except one that cannot change and has no log. So a file that this user cannot write
// to, or that is in a folder or on a file system that cannot be written to, is first copied, with its write-ahead
// log, into the directory for temporary files (TMPDIR). Errors: those of Open; fault.Locked if another user writes
// to the file meanwhile.
func OpenReading(ctx context.Context, url string) (backend.Store, error) {
	return openReading(ctx, url, sqlite.Options{})
}

// OpenToCheck opens a database as OpenReading does, even if it is unfinished.
func OpenToCheck(ctx context.Context, url string) (backend.Store, error) {
	return openReading(ctx, url, sqlite.Options{Unfinished: true})
}

func openReading(ctx context.Context, url string, o sqlite.Options) (backend.Store, error) {
	if IsServer(url) {
		return Open(ctx, url, false)
	}
	path, err := file(url)
	if err != nil {
		return nil, err
	}
	from, err := readable(ctx, path)
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, from.path, o)
	if err != nil {
		return nil, errors.Join(err, from.remove())
	}
	return &readStore{s, from}, nil
}

// readStore is a store that may use a temporary copy of its file. Close removes the copy.
type readStore struct {
	*sqlite.Store
	from *source
}

// Close implements backend.Store.
func (s *readStore) Close() error { return errors.Join(s.Store.Close(), s.from.remove()) }

// OpenEventsReading opens a database of events for programs that only read, as OpenReading opens a backend
// database. The events must exist.
func OpenEventsReading(ctx context.Context, url string) (store.Store, error) {
	if IsServer(url) {
		return OpenEvents(ctx, url)
	}
	path, err := file(url)
	if err != nil {
		return nil, err
	}
	from, err := readable(ctx, path)
	if err != nil {
		return nil, err
	}
	s, err := eventfile.Open(ctx, from.path)
	if err != nil {
		return nil, errors.Join(err, from.remove())
	}
	return &readEvents{s, from}, nil
}

// readEvents does for events what readStore does for a store.
type readEvents struct {
	store.Store
	from *source
}

// Close implements store.Store.
func (s *readEvents) Close() error { return errors.Join(s.Store.Close(), s.from.remove()) }

// source is a SQLite file that can be opened: the file itself, or a copy in dir.
type source struct{ path, dir string }

func (s *source) remove() error {
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// parts are the suffixes of the files that hold a database's data: the database, its write-ahead log, and the
// journal of a transaction that was killed. The log's index (-shm) is rebuilt from the log.
var parts = [...]string{"", "-wal", "-journal"}

// readable returns the file at path, or a copy of it if SQLite cannot open it there.
func readable(ctx context.Context, path string) (*source, error) {
	target, err := filepath.EvalSymlinks(path) // SQLite's other files are next to this one
	if err != nil || writable(target) {
		return &source{path: path}, nil // opening it will report what is wrong with the path
	}
	return copyOf(ctx, target)
}

// copyOf copies a database with the files that belong to it. Errors: fault.Locked if another program writes to the
// database meanwhile.
func copyOf(ctx context.Context, path string) (*source, error) {
	const op = "read database"
	dir, err := os.MkdirTemp("", "adshard-reading-")
	if err != nil {
		return nil, fault.New(fault.Unavailable, op, err)
	}
	s := &source{path: filepath.Join(dir, filepath.Base(path)), dir: dir}
	before := statesOf(path)
	for _, suffix := range parts {
		if err == nil {
			err = copyFile(ctx, path+suffix, s.path+suffix)
		}
	}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		err = fault.Newf(fault.NoSpace, op, "%s cannot be written to, so it is copied into %s, which has no room: name another directory in the variable TMPDIR", path, dir)
	case err != nil:
		err = fault.New(fault.Unavailable, op, err)
	case statesOf(path) != before:
		err = fault.Newf(fault.Locked, op, "%s is being written to by another program, and this user may not write to it: run this command as the user of that program", path)
	}
	if err != nil {
		return nil, errors.Join(err, s.remove())
	}
	return s, nil
}

// writable reports whether SQLite can use a file in its place: it writes to the file and to others next to it.
func writable(path string) bool {
	for _, name := range []string{filepath.Dir(path), path, path + "-wal", path + "-shm", path + "-journal"} {
		switch err := unix.Faccessat(unix.AT_FDCWD, name, unix.W_OK, unix.AT_EACCESS); {
		case errors.Is(err, unix.EACCES), errors.Is(err, unix.EROFS), errors.Is(err, unix.EPERM):
			return false
		}
	}
	return true
}

// fileState is the state of a file. It changes when the file is written to or replaced.
type fileState struct{ inode, size, seconds, nanoseconds int64 }

// statesOf returns the states of a database's files; the state of a missing file is zero.
func statesOf(path string) (all [len(parts)]fileState) {
	for i, suffix := range parts {
		var s unix.Stat_t
		if unix.Stat(path+suffix, &s) == nil {
			all[i] = fileState{int64(s.Ino), s.Size, int64(s.Mtim.Sec), int64(s.Mtim.Nsec)}
		}
	}
	return all
}

// copyFile copies a file, if it exists, so that only its owner can read the copy.
func copyFile(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	for err == nil {
		if err = ctx.Err(); err == nil {
			_, err = io.CopyN(out, in, 16<<20)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, out.Close())
}

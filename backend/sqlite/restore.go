package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"adshard/backend"
	"adshard/fault"
)

const errNoSpace = syscall.ENOSPC

// Restored is the result of Restore.
type Restored struct {
	Manifest *Manifest
	Kept     string // where the database that was at the path is now, or "" if there was none or it was moved back
}

// Errors: fault.NotFound if there is no backup; fault.Corrupt if the backup is damaged; fault.Conflict if there is a
// database and replace is not set, or it has another id, or it was made meanwhile; fault.Unavailable if a file cannot be
// read, written or renamed; fault.NoSpace; those of Open.
func Restore(ctx context.Context, from, path string, replace bool, o Options, progress Progress) (*Restored, error) {
	const op = "sqlite: restore"
	o = o.withDefaults()
	o.Create = false
	m, err := ReadManifest(from)
	if err != nil {
		return nil, err
	}
	path = behindLinks(path)
	if _, err := mayRestore(ctx, m, path, replace, o); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".restoring-")
	if err != nil {
		return nil, fault.New(fault.Unavailable, op, err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, backupFile)
	if err := fetch(ctx, m, filepath.Join(from, backupFile), file, o, progress); err != nil {
		return nil, err
	}
	present, err := mayRestore(ctx, m, path, replace, o) // again, since the copying took some time
	if err != nil {
		return nil, err
	}
	if err := markFile(ctx, file, o); err != nil {
		return nil, err
	}
	r := &Restored{Manifest: m}
	r.Kept, err = put(file, path, present)
	return r, err
}

// behindLinks returns the path to which symbolic links in path lead: SQLite's other files are next to the file that a
// link leads to.
func behindLinks(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// put gives a file the name of a database, and returns where the previous database is now.
func put(file, path string, present bool) (kept string, err error) {
	if present {
		kept = path + ".replaced-" + time.Now().UTC().Format("20060102T150405.000000000")
	}
	err = place(file, path, kept)
	if !exists(kept) {
		kept = ""
	}
	if fault.Is(err, fault.Conflict) {
		return kept, err
	}
	return kept, disk("sqlite: restore", err)
}

// place gives a file the name of a database. The previous database is moved to `kept` before, and back if that fails;
// kept is "" if there is none. If another one is made at the path meanwhile, it stays and place returns
// fault.Conflict.
func place(file, path, kept string) error {
	if kept == "" {
		return give(file, path)
	}
	err := likeness(file, path)
	if err != nil {
		return err
	}
	if err = move(path, kept); err == nil {
		err = give(file, path)
	}
	if err != nil && exists(kept) && !exists(path) {
		err = errors.Join(err, move(kept, path))
	}
	return err
}

// give links a file to a path where no database exists. Unlike a rename, a link never replaces another file.
func give(file, path string) error {
	for _, suffix := range suffixes {
		if exists(path + suffix) {
			return madeMeanwhile(path + suffix)
		}
	}
	return errors.Join(os.Link(file, path), syncFile(filepath.Dir(path)))
}

func madeMeanwhile(path string) error {
	return fault.Newf(fault.Conflict, "sqlite: restore", "%s was made during the restore, and stays: end the program that made it, and try again", path)
}

// move renames a database and SQLite's files next to it. These files get their new names, in addition to the old
// ones, before the database does, so that the database is never without its log, whenever the process is killed.
func move(from, to string) error {
	if err := linkLogs(from, to); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, removeLogs(to))
	}
	if exists(from) {
		return madeMeanwhile(from)
	}
	for _, suffix := range suffixes[1:] {
		// This does nothing if both names are of one file. If they are not, a program has recreated the log.
		if err := os.Rename(from+suffix, to+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.Join(removeLogs(from), syncFile(filepath.Dir(to)))
}

// linkLogs gives SQLite's files next to a database additional names for another path of the database.
func linkLogs(from, to string) error {
	for _, suffix := range suffixes[1:] {
		if err := os.Link(from+suffix, to+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, removeLogs(to))
		}
	}
	return syncFile(filepath.Dir(to))
}

// removeLogs removes names that linkLogs gave, or the old names that it replaced.
func removeLogs(path string) (err error) {
	for _, suffix := range suffixes[1:] {
		if e := os.Remove(path + suffix); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// exists reports whether anything has the path's name.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// mayRestore returns an error if there is a database and replace is not set, or if there is a different database.
// present reports whether any file is there: a killed restore may have left parts.
func mayRestore(ctx context.Context, m *Manifest, path string, replace bool, o Options) (present bool, err error) {
	const op = "sqlite: restore"
	for _, suffix := range suffixes {
		present = present || exists(path+suffix)
	}
	if !present {
		return false, nil
	}
	if !replace {
		return true, fault.Newf(fault.Conflict, op, "there is a database %s already: --replace puts the backup in its place and keeps it beside it", path)
	}
	s, err := Open(ctx, path, o)
	var part *backend.Unfinished
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Corrupt) || errors.As(err, &part) {
		return true, nil // that may be the reason for the restore
	}
	if err != nil {
		return true, err
	}
	id, err := s.ID(ctx)
	if err = errors.Join(err, s.Close()); err == nil && id != m.Database {
		err = fault.Newf(fault.Conflict, op, "%s is another database (%s) than the backup's (%s): move it away first if that is intended", path, id, m.Database)
	}
	return true, err
}

// fetch copies the file of a backup and checks the copy.
func fetch(ctx context.Context, m *Manifest, from, to string, o Options, progress Progress) error {
	const op = "sqlite: restore"
	if progress != nil {
		progress("copy", 0, m.Size)
	}
	if err := copyExactly(ctx, &FileSum{m.Size, m.SHA256}, from, to); err != nil {
		return err
	}
	is, err := describeFile(ctx, to, o, progress)
	if err != nil {
		return err
	}
	if is.Database != m.Database || is.Clock != m.Clock || is.Mark != m.Mark {
		return fault.Newf(fault.Corrupt, op, "%s is %v, its %s says %v: use another backup", from, is, manifestFile, m)
	}
	return disk(op, syncFile(to))
}

// markFile notes o.Making, if there is one, in a file that will be the database.
func markFile(ctx context.Context, file string, o Options) error {
	if o.Making.By == "" {
		return nil
	}
	s, err := Open(ctx, file, o)
	if err != nil {
		return err
	}
	if err := errors.Join(s.Mark(ctx, o.Making), s.Close(), alone(file)); err != nil {
		return err
	}
	return disk("sqlite: restore", syncFile(file))
}

// interruptible is a writer that fails when its context is done.
type interruptible struct {
	ctx context.Context
	f   *os.File
}

// Write implements io.Writer.
func (w *interruptible) Write(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.f.Write(p)
}

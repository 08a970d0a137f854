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

// Restored is what Restore did.
type Restored struct {
	Manifest *Manifest
	Kept     string // where the database that was at the path is now; "": there was none, or it is back
}

// Restore puts the database of a backup at path, after it has compared it with the
// manifest and with the sums of all entities. A database that is there already stays as it is
// without replace, and is kept beside it with replace; the new file then has its owner and
// permissions. With o.Making the database is unfinished until the caller finishes it. Programs that have it open read and
// write nothing in between, and go on with the restored one. With an error the database is as before, unless a result
// says where it is kept.
// Kinds of errors: fault.NotFound (no backup) and fault.Corrupt (a damaged one),
// fault.Conflict (there is a database, without replace, with another id, or made meanwhile),
// fault.Unavailable (a file cannot be read, written or renamed), fault.NoSpace, those of Open.
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
	present, err := mayRestore(ctx, m, path, replace, o) // again, since the copy took a while
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

// behindLinks is where a path leads: SQLite's other files lie beside the file that a link leads
// to.
func behindLinks(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// put gives a file the name of a database, and returns where the previous one is now.
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

// place gives a file the name of a database, which is moved to kept before, or back if that
// fails; "": there is none. One that is made at the path meanwhile stays: fault.Conflict.
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

// give links a file to a path where nothing of a database is. A link, unlike a renamed file,
// never takes the place of another one.
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

// move renames a database with SQLite's files beside it. These have both names before the
// database has the new one, so that it is nowhere without its log, whenever a kill comes.
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
		// This does nothing if both are names of one file, else a program made the log anew.
		if err := os.Rename(from+suffix, to+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.Join(removeLogs(from), syncFile(filepath.Dir(to)))
}

// linkLogs gives SQLite's files beside a database the names that they have beside another one.
func linkLogs(from, to string) error {
	for _, suffix := range suffixes[1:] {
		if err := os.Link(from+suffix, to+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, removeLogs(to))
		}
	}
	return syncFile(filepath.Dir(to))
}

// removeLogs removes names that linkLogs gave, or took the place of.
func removeLogs(path string) (err error) {
	for _, suffix := range suffixes[1:] {
		if e := os.Remove(path + suffix); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// exists reports whether a path names anything.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// mayRestore refuses to replace a database without replace, or a different database with
// it. It reports whether anything is there: a restore that was killed may have left
// parts.
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
		return true, nil // which may be why it is to be replaced
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

// markFile notes o.Making in a file that is to be the database, if there is one.
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

// interruptible is a writer that ends with a context.
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

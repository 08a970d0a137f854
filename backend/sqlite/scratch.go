package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/fault"
)

// scratch is a store whose file is removed when it is closed.
type scratch struct {
	*Store
	dir string
}

// OpenScratch opens a copy of the database at path, for trying changes out. The database is only read, and its
// writers do not wait. If it does not exist, the copy is empty. Until Close the copy is in the directory for
// temporary files (TMPDIR), which needs as much free space as the database. It returns the same errors as Open.
func OpenScratch(ctx context.Context, path string, o Options) (backend.Store, error) {
	o = o.withDefaults()
	o.Create = true
	if err := checkPath(path, o); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "adshard-scratch-")
	if err != nil {
		return nil, fault.New(fault.Unavailable, "sqlite: copy", err)
	}
	to := filepath.Join(dir, "copy.db")
	err = copyDatabase(ctx, path, to, o, nil, nil)
	var store *Store
	if err == nil {
		store, err = Open(ctx, to, o)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &scratch{store, dir}, nil
}

// Close implements backend.Store.
func (s *scratch) Close() error {
	return errors.Join(s.Store.Close(), os.RemoveAll(s.dir))
}

// copyPages is the number of pages that are copied between two checks of the context.
const copyPages = 1024

// copyDatabase copies the database at `from`, if there is one, in one read transaction. begun is called as soon as it
// is fixed of which moment the copy is. begun and progress may be nil.
func copyDatabase(ctx context.Context, from, to string, o Options, begun func() error, progress Progress) error {
	if info, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil
	}
	version, err := storedVersion(ctx, from, Options{BusyTimeout: o.BusyTimeout})
	switch {
	case err != nil:
		return err // it is not a database of this program
	case version != 0 && !supported(version, thisSchema()):
		return otherSchema(from, version)
	}
	source, err := connect(from, o.BusyTimeout)
	if err != nil {
		return failed(ctx, "copy", from, err)
	}
	defer source.Close()
	target, err := zs.OpenConn(to, zs.OpenReadWrite|zs.OpenCreate)
	if err != nil {
		return failed(ctx, "copy", to, err)
	}
	defer target.Close()
	return failed(ctx, "copy", to, copyPagesOf(ctx, source, target, begun, progress))
}

func copyPagesOf(ctx context.Context, source *conn, target *zs.Conn, begun func() error, progress Progress) (err error) {
	if err := source.exec("BEGIN"); err != nil {
		return err
	}
	if _, err := source.number("SELECT count(*) FROM sqlite_schema"); err != nil {
		return err // from here on, changes by others are not seen
	}
	if begun != nil {
		if err := begun(); err != nil {
			return err
		}
	}
	b, err := zs.NewBackup(target, "main", source.Conn, "main")
	if err != nil {
		return err
	}
	defer func() {
		if e := b.Close(); err == nil {
			err = e
		}
	}()
	for more := true; more && err == nil; {
		if err = ctx.Err(); err == nil {
			more, err = b.Step(copyPages)
			if total := b.PageCount(); progress != nil {
				progress("copy", int64(total-b.Remaining()), int64(total))
			}
		}
	}
	return err
}

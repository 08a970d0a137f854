package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"adshard/fault"
)

// Probe returns an error if Open could not open the file at path. It creates and changes nothing. Errors: fault.NotFound if there is no
// file, and those of Open.
func Probe(ctx context.Context, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return fault.New(fault.Unavailable, "sqlite: open", err)
	}
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return noEvents(path)
	case err == nil && !info.Mode().IsRegular():
		return notRegular(path)
	}
	if err := probe(path, thisProgram()); err != nil {
		return failed(ctx, "open", path, err)
	}
	_, log := os.Stat(path + "-wal")
	c, err := reading(path, log != nil) // without a log no program has the file open, and SQLite creates no files beside it
	if err != nil {
		return failed(ctx, "open", path, err)
	}
	defer c.Close()
	found, err := sqlitex.ResultInt(c.Prep("PRAGMA user_version"))
	switch {
	case err != nil:
		return failed(ctx, "open", path, err)
	case found == 0: // even with the log
		return noTables(path)
	case !thisProgram().supported(found):
		return otherFormat(path, found, thisProgram())
	}
	return nil
}

// reading opens a file for reading. If fixed is set, SQLite may assume that nothing changes it.
func reading(path string, fixed bool) (*zs.Conn, error) {
	uri := url.URL{Scheme: "file", Path: path}
	if fixed {
		uri.RawQuery = "immutable=1"
	}
	return zs.OpenConn(uri.String(), zs.OpenReadOnly|zs.OpenURI)
}

// probe returns an error if a file is not one of events, before SQLite opens it for writing and puts a log beside it. A version that is
// only in the log, as just after creation, is checked later. probe reads through SQLite: if it opened the file itself, closing it would
// release the locks of this process.
func probe(path string, f formats) error {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return err
	}
	c, err := reading(path, true)
	if err != nil {
		return err
	}
	defer c.Close()
	found, err := sqlitex.ResultInt(c.Prep("PRAGMA user_version"))
	if err == nil && found != 0 && !f.supported(found) {
		err = otherFormat(path, found, f)
	}
	return err
}

func noEvents(path string) error {
	return fault.Newf(fault.NotFound, "sqlite: open", "there are no events at %s: a collector makes the file", path)
}

func notRegular(path string) error { // opening a named pipe would block
	return fault.Newf(fault.Invalid, "sqlite: open", "%s is not a regular file: name one", path)
}

func otherFormat(path string, found int, f formats) error {
	use := "use a newer program, or name another file if this is a database of something else"
	if found > 0 && found < firstFormat {
		use = fmt.Sprint("open it once with the program of format ", firstFormat)
	}
	return fault.Newf(fault.Version, "sqlite: open", "%s has format %d of events, this program knows %d to %d: %s", path, found, firstFormat, f.newest(), use)
}

func noTables(path string) error {
	return fault.Newf(fault.Version, "sqlite: open", "%s has no tables of events: name the file of a collector", path)
}

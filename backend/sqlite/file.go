package sqlite

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	zs "zombiezen.com/go/sqlite"

	"adshard/fault"
)

// file is the identity of the database's file at the time it was opened. As long as a connection is open, its path
// must name the same file: SQLite would keep writing to a removed file, although no other program sees it.
type file struct {
	path, id string
	// parts are the database, its write-ahead log and the log's index.
	parts [3]part
	conns int // open connections
	// summedTo is the clock up to which the changes of other programs were summed.
	summedTo atomic.Uint64

	header    header
	size      int64     // when the header was read
	changed   time.Time // when the header was read
	overwrote error     // the error if the file was changed in place, which cannot be undone
}

type part struct {
	path string
	info fs.FileInfo
}

// suffixes are the suffixes of the parts' names.
var suffixes = [3]string{"", "-wal", "-shm"}

// openFile opens the file that a path names and returns the first connection to it.
func openFile(path string, o Options) (*file, *conn, error) {
	// SQLite puts the log beside the file that a link leads to.
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, nil, fault.New(fault.Unavailable, "sqlite: open", err)
	}
	before, err := os.Stat(path)
	if err != nil {
		return nil, nil, fault.New(fault.Unavailable, "sqlite: open", err)
	}
	c, err := connect(path, o.BusyTimeout, walMode, readerCache)
	if err != nil {
		return nil, nil, err
	}
	f := &file{path: path, conns: 1}
	c.of = f
	if err := f.fill(c, target, before); err != nil {
		c.Conn.Close()
		return nil, nil, err
	}
	return f, c, nil
}

// fill records the data with which examine compares.
func (f *file) fill(c *conn, target string, before fs.FileInfo) error {
	id, err := c.id() // this also creates the write-ahead log, if there is none
	if err != nil {
		return err
	}
	f.id = string(id)
	for i, suffix := range suffixes {
		p := part{path: target + suffix}
		if i == 0 {
			p.path = f.path
		}
		if p.info, err = os.Stat(p.path); err != nil {
			return fault.New(fault.Unavailable, "sqlite: open", err)
		}
		f.parts[i] = p
	}
	if !os.SameFile(before, f.parts[0].info) {
		return f.lost("was replaced while it was being opened", "try again")
	}
	f.size, f.changed = f.parts[0].info.Size(), f.parts[0].info.ModTime()
	if f.header, err = f.readHeader(false); err == nil && f.header.number != numberOf(f.id) {
		f.header = header{}
	}
	return err
}

// lost returns the error for a file that is missing or has been replaced.
func (f *file) lost(what, advice string) error {
	return fault.Newf(fault.Unavailable, "sqlite: open file", "database %s %s: nothing is read or written; %s", f.path, what, advice)
}

// examine returns an error unless the path still names the file that is open.
func (f *file) examine() error {
	if f.overwrote != nil {
		return f.overwrote
	}
	const back = "restore the database or a backup of it at this path"
	var now fs.FileInfo
	for i, p := range f.parts {
		info, err := os.Stat(p.path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && i == 0:
			return f.lost("was removed or renamed while it was open", back)
		case errors.Is(err, fs.ErrNotExist):
			return f.lost("lost its "+p.path, "the database is reopened when nothing uses it any more")
		case err != nil:
			return f.lost("cannot be examined ("+err.Error()+")", back)
		case os.SameFile(info, p.info):
		case i == 0:
			return f.lost("was replaced by another file while it was open", "it is reopened if that has the same id")
		default:
			return f.lost("has a different "+p.path+" than before", "the database is reopened when nothing uses it any more")
		}
		if i == 0 {
			now = info
		}
	}
	if now.Size() == f.size && now.ModTime().Equal(f.changed) {
		return nil
	}
	return f.examineContent(now)
}

// examineContent checks a file that was written to, by SQLite, which copied the log into it, or by another program.
func (f *file) examineContent(now fs.FileInfo) error {
	h, err := f.readHeader(now.Size() < f.size)
	damaged := diagnosis(err) == fault.Corrupt
	if err != nil && !damaged {
		return f.lost("cannot be read ("+err.Error()+")", "it will be retried")
	}
	if damaged || f.header.number != 0 && (h.app != applicationID || h.number != f.header.number || h.schema < f.header.schema) {
		f.overwrote = f.lost("was emptied or overwritten in place while it was open", "stop all programs that use it,"+
			" put a whole copy of the database there without -wal and -shm files, and start them again")
		return f.overwrote
	}
	if h.number != numberOf(f.id) {
		h = header{} // the number is still only in the log
	}
	f.header, f.size, f.changed = h, now.Size(), now.ModTime()
	return nil
}

// leftovers returns an error if this file was replaced, but the files beside the new one are still those of the old:
// SQLite would mix them.
func (f *file) leftovers() error {
	if info, err := os.Stat(f.path); err != nil || os.SameFile(info, f.parts[0].info) {
		return nil
	}
	for _, p := range f.parts[1:] {
		if info, err := os.Stat(p.path); err == nil && os.SameFile(info, p.info) {
			return f.lost("was replaced by another file, but "+p.path+" is still of the one before",
				"remove "+f.parts[1].path+" and "+f.parts[2].path)
		}
	}
	return nil
}

// header is part of the file's first page, without the write-ahead log. The schema's version never decreases, except
// in a file made by a backup.
type header struct{ app, number, schema int64 }

// numberOf returns the user_version in the header of a database with this id. It makes it possible to recognise an
// overwritten file by its first bytes.
func numberOf(id string) int64 {
	sum := sha256.Sum256([]byte(id))
	return int64(binary.BigEndian.Uint32(sum[:])>>1 | 1)
}

// readHeader reads the file itself. It reads through SQLite, since opening and closing the file otherwise would give
// up the locks of this process. If strict is set, a file that is shorter than its header says is fault.Corrupt; a
// growing file may be shorter for a moment.
func (f *file) readHeader(strict bool) (h header, err error) {
	uri := url.URL{Scheme: "file", Path: f.path, RawQuery: "immutable=1"}
	c, err := zs.OpenConn(uri.String(), zs.OpenReadOnly|zs.OpenURI)
	if err != nil {
		return h, err
	}
	defer c.Close()
	cn := &conn{Conn: c}
	if !strict {
		// This disables only that check.
		if err := cn.exec("PRAGMA writable_schema = ON"); err != nil {
			return h, err
		}
	}
	for pragma, to := range map[string]*int64{"application_id": &h.app, "user_version": &h.number, "schema_version": &h.schema} {
		if *to, err = cn.number("PRAGMA " + pragma); err != nil {
			return h, err
		}
	}
	return h, nil
}

// sign writes the number of the database's id into the file's header.
func sign(c *conn) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	// The migration created the id with SQL, without a sum.
	missing, err := c.number("SELECT count(*) FROM control WHERE key = ? AND sum IS NULL", idKey)
	if err == nil && missing > 0 {
		err = c.setControl(idKey, id)
	}
	if err != nil {
		return err
	}
	now, err := c.number("PRAGMA user_version")
	if err != nil || now == numberOf(string(id)) {
		return err
	}
	if err := c.exec(fmt.Sprintf("PRAGMA user_version = %d", numberOf(string(id)))); err != nil {
		return err
	}
	return c.exec("PRAGMA wal_checkpoint(PASSIVE)")
}

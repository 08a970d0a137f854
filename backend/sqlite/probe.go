package sqlite

import (
	"context"
	"net/url"
	"path/filepath"

	"golang.org/x/sys/unix"
	zs "zombiezen.com/go/sqlite"

	"adshard/fault"
)

// Probe checks whether Open would open the database at path. It returns the database's id and the value of a control
// key, or "" and nil if the version of the schema is older, so that Open would migrate it. It does not create, change
// or migrate anything. It returns the same errors as Open.
func Probe(ctx context.Context, path, key string) (id string, value []byte, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", nil, fault.New(fault.Unavailable, "sqlite: open", err)
	}
	o := Options{}.withDefaults()
	if err := checkPath(path, o); err != nil {
		return "", nil, err
	}
	for _, at := range []string{path, filepath.Dir(path)} {
		if err := unix.Access(at, unix.W_OK); err != nil {
			return "", nil, fault.Newf(fault.Unavailable, "sqlite: open", "%s cannot be written (%w): allow this user to read and write it", at, err)
		}
	}
	c, err := readingOf(path)
	if err != nil {
		return "", nil, failed(ctx, "open", path, err)
	}
	defer c.Close()
	c.SetBusyTimeout(o.BusyTimeout)
	cn := &conn{Conn: c}
	version, err := versionOf(ctx, cn, path, o)
	switch {
	case err != nil:
		return "", nil, err
	case version == 0:
		return "", nil, emptyFile(path)
	case !supported(version, o.schema):
		return "", nil, otherSchema(path, version)
	case version < schemaVersion:
		return "", nil, nil
	}
	text, err := cn.id()
	if err == nil {
		value, err = cn.control(key)
	}
	return string(text), value, failed(ctx, "open", path, err)
}

// readingOf opens a database for reading. If it has no log, no program has it open; then it is opened as immutable, so that
// SQLite makes no files next to it.
func readingOf(path string) (*zs.Conn, error) {
	uri := url.URL{Scheme: "file", Path: path}
	if !exists(path+"-wal") && !exists(path+"-journal") {
		uri.RawQuery = "immutable=1"
	}
	return zs.OpenConn(uri.String(), zs.OpenReadOnly|zs.OpenURI)
}

func emptyFile(path string) error {
	return fault.Newf(fault.Corrupt, "sqlite: open", "%s is an empty file, not a database: restore the database from a copy,"+
		" or make a new one by importing", path)
}

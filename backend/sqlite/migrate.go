package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver that goose uses
	zs "zombiezen.com/go/sqlite"

	"adshard/fault"
	"adshard/internal/wait"
)

// migrations create the schema and bring it to newer versions. The folder `earlier` has the single step from
// keptSchema to firstSchema.
//
//go:embed migrations/*.sql earlier/*.sql
var migrations embed.FS

const (
	// firstSchema is the version of the schema that a new file gets first. Migrations bring it to newer versions.
	firstSchema = 10
	// keptSchema is the only earlier version from which a database can be updated.
	keptSchema = 7
	// applicationID marks the file as a database of this program; the migrations set it.
	applicationID = 0x41645368
)

// schema is a version of the schema, with the migrations that lead to it.
type schema struct {
	files   fs.FS
	version int64
}

// thisSchema returns the schema of this program.
func thisSchema() schema { return schema{migrations, schemaVersion} }

// prepare makes sure that the file is a database of this program and of this version.
func prepare(ctx context.Context, path string, o Options) error {
	if err := checkPath(path, o); err != nil {
		return err
	}
	if o.Create {
		if err := create(path); err != nil {
			return err
		}
		o.step()
		if err := begin(ctx, path, o); err != nil {
			return err
		}
	}
	deadline := time.Now().Add(o.BusyTimeout)
	for last := int64(0); ; {
		version, err := storedVersion(ctx, path, o)
		switch {
		case err != nil:
			return err
		case version == 0 && !o.Create:
			return emptyFile(path)
		case version == o.schema.version:
			return signed(ctx, path, o)
		case version != 0 && !supported(version, o.schema):
			return otherSchema(path, version)
		case version > last: // another program is migrating the file, too
			last, deadline = version, time.Now().Add(o.BusyTimeout)
		}
		err = migrate(ctx, path, o, version)
		if err == nil {
			continue
		}
		// Another program may have been faster; then the next read of the version shows it.
		if ctx.Err() != nil || time.Now().After(deadline) {
			return failed(ctx, "migrate", path, driverError(err))
		}
		if err := wait.Sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// supported reports whether a database of a version can be opened, perhaps after migrations.
func supported(version int64, s schema) bool {
	return version == keptSchema || version >= firstSchema && version <= s.version
}

func otherSchema(path string, version int64) error {
	use := "use a newer program"
	if version < firstSchema {
		use = "open it once with a program that brings it to version " + strconv.Itoa(keptSchema)
	}
	return fault.Newf(fault.Version, "sqlite: open", "database %s has schema version %d, this program supports %d, and %d to %d: %s",
		path, version, keptSchema, firstSchema, schemaVersion, use)
}

// checkPath returns an error that says what is wrong with a path, in plainer words than SQLite's, or nil.
func checkPath(path string, o Options) error {
	const op = "sqlite: open"
	info, err := os.Stat(path)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && !o.Create:
		return fault.Newf(fault.NotFound, op, "there is no database %s: name an existing one, or make it by importing", path)
	case missing:
		if folder := filepath.Dir(path); !isFolder(folder) {
			return fault.Newf(fault.NotFound, op, "database %s: there is no folder %s: make it first", path, folder)
		}
	case err != nil:
		return fault.Newf(fault.Unavailable, op, "database %s: %w", path, err)
	case info.IsDir():
		return fault.Newf(fault.Invalid, op, "%s is a folder: name a file in it", path)
	case !info.Mode().IsRegular(): // a named pipe would block
		return fault.Newf(fault.Invalid, op, "%s is not a regular file: name one", path)
	}
	return nil
}

// create creates an empty file that only its owner can read; the files that SQLite puts next to it get the same
// permissions. The file is not opened, since closing it would give up locks that another connection of this process
// may have by then.
func create(path string) error {
	err := syscall.Mknod(path, syscall.S_IFREG|0o600, 0)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fault.Newf(fault.Unavailable, "sqlite: open", "cannot make database %s: %w", path, err)
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// storedVersion returns the version of the newest applied migration, or 0 for an empty file. It returns
// fault.Conflict for an unfinished database.
func storedVersion(ctx context.Context, path string, o Options) (int64, error) {
	flags := zs.OpenReadWrite
	if o.Create {
		flags |= zs.OpenCreate
	}
	c, err := zs.OpenConn(path, flags)
	if err != nil {
		return 0, failed(ctx, "open", path, err)
	}
	defer c.Close()
	c.SetBusyTimeout(o.BusyTimeout)
	return versionOf(ctx, &conn{Conn: c}, path, o)
}

// versionOf is like storedVersion for an open database.
func versionOf(ctx context.Context, cn *conn, path string, o Options) (int64, error) {
	tables, err := cn.number("SELECT count(*) FROM sqlite_schema")
	if err != nil || tables == 0 {
		return 0, failed(ctx, "open", path, err)
	}
	history, err := cn.number("SELECT count(*) FROM sqlite_schema WHERE name = ?", goose.DefaultTablename)
	if err != nil {
		return 0, failed(ctx, "open", path, err)
	}
	app, err := cn.number("PRAGMA application_id")
	if err != nil {
		return 0, failed(ctx, "open", path, err)
	}
	noted, err := cn.makings()
	if err == nil {
		err = o.admit(path, noted)
	}
	if err != nil {
		return 0, describe(ctx, "open", path, err)
	}
	if history == 0 && len(noted) > 0 {
		return 0, unfinished(path, o.Making.MayOpen(noted)) // even with o.Unfinished, since there is nothing to look at
	}
	if history == 0 || app != applicationID && app != 0 {
		return 0, fault.Newf(fault.Corrupt, "sqlite: open", "%s is a database of another program: name another file", path)
	}
	version, err := cn.number("SELECT coalesce(max(version_id), 0) FROM " + goose.DefaultTablename + " WHERE is_applied")
	if err == nil && version == 0 {
		err = unfinished(path, o.Making.MayOpen(noted))
	}
	return version, describe(ctx, "open", path, err)
}

// signed makes sure that the header of the file has the number of the database's id.
func signed(ctx context.Context, path string, o Options) error {
	c, err := connect(path, o.BusyTimeout)
	if err != nil {
		return failed(ctx, "open", path, err)
	}
	defer c.Close()
	return describe(ctx, "open", path, sign(c))
}

// storedID returns the id of the database that a path names now. It returns fault.Corrupt if the file is not a
// database of this program.
func storedID(path string, o Options) (string, error) {
	c, err := connect(path, o.BusyTimeout)
	if err != nil {
		return "", failed(context.Background(), "open", path, err)
	}
	defer c.Close()
	n, err := c.number("SELECT count(*) FROM sqlite_schema WHERE name = 'control'")
	if err != nil {
		return "", failed(context.Background(), "open", path, err)
	}
	if n == 0 {
		return "", fault.Newf(fault.Corrupt, "sqlite: open", "%s is not a database of adshard", path)
	}
	id, err := c.id()
	return string(id), describe(context.Background(), "open", path, err)
}

// migrate creates the schema, updates it from a version, or brings it from keptSchema to firstSchema. The write-ahead log is a property
// of the file, so it is switched on here, once.
func migrate(ctx context.Context, path string, o Options, version int64) error {
	dsn := url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: url.Values{
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", o.BusyTimeout.Milliseconds()),
			"journal_mode(wal)", "synchronous(full)",
		},
		"_txlock": {"immediate"},
	}.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	from := "migrations"
	if version == keptSchema {
		from = "earlier"
	}
	files, err := fs.Sub(o.schema.files, from)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	for {
		_, err := p.UpByOne(ctx)
		if errors.Is(err, goose.ErrNoNextVersion) {
			return nil
		}
		if err != nil {
			return err
		}
		o.step()
	}
}

// driverError converts an error of the database/sql driver to one that `failed` understands.
func driverError(err error) error {
	var coded interface{ Code() int }
	if errors.As(err, &coded) {
		return fmt.Errorf("%w (%v)", zs.ResultCode(coded.Code()).ToError(), err)
	}
	return err
}

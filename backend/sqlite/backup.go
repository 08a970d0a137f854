package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/outfile"
)

const (
	backupFormat = 1
	backupFile   = "ads.db"
	eventsFile   = "events.db"
	manifestFile = "manifest.json"
	// mostManifest is the most bytes of a manifest that are read.
	mostManifest = 64 << 10
	// sumLength is the length of a SHA-256 in hexadecimal digits.
	sumLength = 2 * sha256.Size
	// listed is the most damages that an error lists.
	listed = 5
)

// Manifest describes a backup: a directory with the database and the manifest as JSON.
type Manifest struct {
	Format   int            `json:"format"`
	Database string         `json:"database"` // the database's id
	Clock    uint64         `json:"clock"`    // of the newest change, with its mark
	Mark     uint64         `json:"mark,string"`
	Made     time.Time      `json:"made"`
	Size     int64          `json:"size"` // bytes of the file
	SHA256   string         `json:"sha256"`
	Counts   backend.Counts `json:"counts"`
	// Events is the file events.db, or nil if the backup has none.
	Events *FileSum `json:"events,omitempty"`
}

// FileSum is the size and checksum that a file must have.
type FileSum struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Events is a file of events in its state when Backup begins to read the database: nothing is written to it until
// Release.
type Events interface {
	Release() error
	// Copy copies the file to a path, checks the copy, and leaves no other file next to it.
	Copy(ctx context.Context, to, database string) error
}

// Progress is called with what is being done, how much of it is done, and how much there is, or 0 if that is unknown.
type Progress func(what string, done, total int64)

// Backup copies the database at path, in its state at one moment, into a new directory, and makes missing directories
// above it. The database is only read; its writers do not wait. The copy is compared with the sums of all entities
// before the directory appears, complete and durable. Errors: those of Open, fault.Conflict if `to` exists,
// fault.Corrupt if the database is damaged, fault.NoSpace.
func Backup(ctx context.Context, path, to string, o Options, progress Progress) (*Manifest, error) {
	return BackupWithEvents(ctx, path, to, nil, o, progress)
}

// BackupWithEvents does what Backup does, for a database and, if events is not nil, for events as of the same moment.
func BackupWithEvents(ctx context.Context, path, to string, events Events, o Options, progress Progress) (*Manifest, error) {
	o = o.withDefaults()
	o.Create = false
	if err := checkPath(path, o); err != nil {
		return nil, err
	}
	dir, err := outfile.NewDir(to)
	if err != nil {
		return nil, err
	}
	m, err := backupInto(ctx, path, dir.Path, events, o, progress)
	if err = dir.End(err); err != nil {
		return nil, err
	}
	return m, nil
}

func backupInto(ctx context.Context, path, dir string, events Events, o Options, progress Progress) (*Manifest, error) {
	const op = "sqlite: backup"
	file := filepath.Join(dir, backupFile)
	err := create(file) // readable only for its owner
	if err == nil {
		var begun func() error
		if events != nil {
			begun = events.Release
		}
		err = copyDatabase(ctx, path, file, o, begun, progress)
	}
	if err != nil {
		return nil, err
	}
	m, err := describeFile(ctx, file, o, progress)
	if err == nil && events != nil {
		m.Events, err = backupEvents(ctx, events, filepath.Join(dir, eventsFile), m.Database)
	}
	if err != nil {
		return nil, err
	}
	m.Format, m.Made = backupFormat, time.Now().UTC().Truncate(time.Second)
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fault.New(fault.Internal, op, err)
	}
	manifest := filepath.Join(dir, manifestFile)
	err = os.WriteFile(manifest, append(text, '\n'), 0o600)
	if err == nil {
		err = errors.Join(syncFile(manifest), syncFile(file), syncFile(dir))
	}
	return m, disk(op, err)
}

func backupEvents(ctx context.Context, events Events, file, database string) (*FileSum, error) {
	err := create(file) // readable only for its owner
	if err == nil {
		err = events.Copy(ctx, file, database)
	}
	if err == nil {
		err = alone(file)
	}
	if err != nil {
		return nil, err
	}
	size, sum, err := sumOf(file, nil)
	return &FileSum{size, sum}, disk("sqlite: backup", errors.Join(err, syncFile(file)))
}

// describeFile checks a copy of a database that nothing else uses, and describes it. It returns fault.Corrupt if the
// copy is damaged.
func describeFile(ctx context.Context, file string, o Options, progress Progress) (*Manifest, error) {
	s, err := Open(ctx, file, o)
	if err != nil {
		return nil, err
	}
	m, err := s.describe(ctx, progress)
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	if err := alone(file); err != nil {
		return nil, err
	}
	m.Size, m.SHA256, err = sumOf(file, nil)
	return m, disk("sqlite: backup", err)
}

// alone returns an error if a database has parts in SQLite's other files, which its checksum would not cover.
func alone(file string) error {
	for _, suffix := range suffixes[1:] {
		if _, err := os.Stat(file + suffix); !errors.Is(err, fs.ErrNotExist) {
			return fault.Newf(fault.Internal, "sqlite: backup", "%s is left after the database was closed", file+suffix)
		}
	}
	return nil
}

func (s *Store) describe(ctx context.Context, progress Progress) (*Manifest, error) {
	report, err := s.Check(ctx, progress)
	if err != nil {
		return nil, err
	}
	if n := len(report.Damage); n > 0 {
		var text error
		for _, d := range report.Damage[:min(n, listed)] {
			text = errors.Join(text, d)
		}
		return nil, fault.Newf(fault.Corrupt, "sqlite: backup", "the database is damaged in %d places (`adshard db check` lists them): %w", n, text)
	}
	m := &Manifest{Counts: report.Counts}
	if m.Database, err = s.ID(ctx); err != nil {
		return nil, err
	}
	p, err := s.Newest(ctx)
	m.Clock, m.Mark = p.Clock, p.Mark
	return m, err
}

// sumOf reads a file and returns its size and SHA-256. It also copies the file to `to` if that is not nil.
func sumOf(path string, to io.Writer) (size int64, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	return sumFrom(f, to)
}

// sumFrom is like sumOf for the rest of a reader.
func sumFrom(f io.Reader, to io.Writer) (size int64, sum string, err error) {
	h := sha256.New()
	w := io.Writer(h)
	if to != nil {
		w = io.MultiWriter(h, to)
	}
	size, err = io.Copy(w, f)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// syncFile makes a file, or the names in a directory, durable.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// disk returns an error of the file system with a kind.
func disk(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNoSpace):
		return fault.New(fault.NoSpace, op, err)
	}
	return fault.New(fault.Unavailable, op, err)
}

// ReadManifest reads the manifest of a backup. Errors: fault.NotFound; fault.Version for the manifest of a newer
// program; fault.Corrupt.
func ReadManifest(dir string) (*Manifest, error) {
	const op = "sqlite: restore"
	path := filepath.Join(dir, manifestFile)
	f, err := openPart(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Newf(fault.NotFound, op, "%s is not a backup: there is no %s", dir, path)
	}
	if err != nil {
		return nil, partError(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostManifest+1))
	if err != nil {
		return nil, fault.New(fault.Unavailable, op, err)
	}
	if len(text) > mostManifest {
		return nil, fault.Newf(fault.Corrupt, op, "%s has more than %d bytes, which no manifest has; use another backup", path, mostManifest)
	}
	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fault.Newf(fault.Corrupt, op, "%s: %w", path, err)
	}
	if m.Format != backupFormat {
		return nil, fault.Newf(fault.Version, op, "%s has format %d, this program reads %d", path, m.Format, backupFormat)
	}
	err = (&FileSum{m.Size, m.SHA256}).check(path, backupFile)
	if err == nil && m.Events != nil {
		err = m.Events.check(path, eventsFile)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// partError returns an error from opening a part of a backup with a kind.
func partError(err error) error {
	if fault.Is(err, fault.Corrupt) {
		return err
	}
	return disk("sqlite: restore", err)
}

// String returns the backup's database and clock.
func (m *Manifest) String() string {
	return fmt.Sprintf("database %s at clock %d", m.Database, m.Clock)
}

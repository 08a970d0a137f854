package database

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"adshard/backend/postgres"
	"adshard/backend/sqlite"
	"adshard/fault"
)

// Probe looks whether the backend database at url is there and one that this program opens, and returns its id. It
// makes and changes nothing; a database of an older version, which Open migrates, is well, and may have no id. Errors: those of Open.
func Probe(ctx context.Context, url string) (id string, err error) {
	if IsServer(url) {
		return postgres.Probe(ctx, url)
	}
	path, err := file(url)
	if err != nil {
		return "", err
	}
	return sqlite.Probe(ctx, path)
}

// ProbeEvents looks whether the database of events at url is one that this program opens. There need not be any.
func ProbeEvents(ctx context.Context, url string) error {
	r, err := OpenEventReader(ctx, url)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if path, ok := FileOf(url); ok && fault.Is(err, fault.Version) && isEmpty(path) {
		return nil // one that is being made
	}
	if err != nil {
		return err
	}
	return errors.Join(r.Close())
}

// FileOf returns the path in a URL sqlite:PATH.
func FileOf(url string) (path string, ok bool) {
	path, ok = strings.CutPrefix(url, "sqlite:")
	return path, ok && path != ""
}

// Files are the files of a database at url, whether they exist or not; of one on a server there are none.
func Files(url string) (paths []string) {
	path, ok := FileOf(url)
	if !ok {
		return nil
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to // SQLite has the others beside the file itself
	}
	for _, side := range []string{"", "-wal", "-shm", "-journal"} {
		paths = append(paths, path+side)
	}
	return paths
}

func isEmpty(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() == 0
}

package database

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"adshard/backend/postgres"
	"adshard/backend/sqlite"
	"adshard/events"
	eventfile "adshard/events/store/sqlite"
	"adshard/fault"
)

// Probe checks that the backend database at a URL exists and that this program can open it. It returns the database's
// id, and the id of its events database or "". It changes nothing. An older database, which Open would migrate, is
// not an error and may have neither id. Errors: those of Open.
func Probe(ctx context.Context, url string) (id, counts string, err error) {
	var named []byte
	if IsServer(url) {
		id, named, err = postgres.Probe(ctx, url, events.DatabaseKey)
		return id, string(named), err
	}
	path, err := file(url)
	if err == nil {
		id, named, err = sqlite.Probe(ctx, path, events.DatabaseKey)
	}
	return id, string(named), err
}

// ProbeEvents checks whether the database of events at a URL exists and this program can open it. It changes nothing.
func ProbeEvents(ctx context.Context, url string) (there bool, err error) {
	path, ok := FileOf(url)
	if ok {
		err = eventfile.Probe(ctx, path)
	} else {
		err = probeServer(ctx, url)
	}
	if fault.Is(err, fault.NotFound) || ok && fault.Is(err, fault.Version) && isEmpty(path) { // the file is just being made
		return false, nil
	}
	return err == nil, err
}

func probeServer(ctx context.Context, url string) error {
	r, err := OpenEventReader(ctx, url)
	if err != nil {
		return err
	}
	return r.Close()
}

// Shown returns the value of a setting as messages show it: the URL of a database on a server without its password and its parameters,
// among which may be another one.
func Shown(value string) string {
	if !IsServer(value) {
		return value
	}
	u, err := url.Parse(value)
	if err != nil {
		return "a URL that cannot be read"
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if name := u.User.Username(); name != "" {
		shown.User = url.User(name)
	}
	return shown.String()
}

// FileOf returns the path in a URL sqlite:PATH.
func FileOf(url string) (path string, ok bool) {
	path, ok = strings.CutPrefix(url, "sqlite:")
	return path, ok && path != ""
}

// Files returns the files of the database at a URL, whether they exist or not, or nil for a database on a server.
func Files(url string) (paths []string) {
	path, ok := FileOf(url)
	if !ok {
		return nil
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to // SQLite puts its other files next to the file itself
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

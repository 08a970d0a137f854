package cli

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"adshard/fault"
)

const databaseHelp = "the database: sqlite:PATH"

// databasePath parses a database's URL: sqlite:PATH.
func databasePath(url string) (string, error) {
	path, ok := strings.CutPrefix(url, "sqlite:")
	switch {
	case url == "":
		return "", wrongUse("--db is missing: name the database, for example --db sqlite:ads.db")
	case strings.HasPrefix(url, "postgres://"), strings.HasPrefix(url, "postgresql://"):
		return "", wrongUse("--db: PostgreSQL is not available in this version; use sqlite:PATH")
	case !ok:
		return "", wrongUse("--db %s is not a database URL; write sqlite:PATH, for example sqlite:ads.db", url)
	case path == "":
		return "", wrongUse("--db %s: the path is missing, for example sqlite:ads.db", url)
	}
	return path, nil
}

// checkDatabase reports a missing database before a server starts.
func checkDatabase(url string) error {
	path, err := databasePath(url)
	if err != nil {
		return err
	}
	if !exists(path) {
		return noDatabase(path)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func noDatabase(path string) error {
	return fault.Newf(fault.NotFound, "", "database %s does not exist; `adshard import --db sqlite:%s FILE` creates it", path, path)
}

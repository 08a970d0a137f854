package cli

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"adshard/fault"
	"adshard/internal/node/database"
)

const databaseHelp = "the database: sqlite:PATH or postgres://USER@HOST/DATABASE"

// databasePath parses a database's URL, and returns the path of sqlite:PATH; a
// database on a server has none.
func databasePath(url string) (string, error) {
	path, ok := strings.CutPrefix(url, "sqlite:")
	switch {
	case database.IsServer(url):
		return "", nil
	case url == "":
		return "", wrongUse("--db is missing: name the database, for example --db sqlite:ads.db")
	case !ok:
		return "", wrongUse("--db: this is not a database URL; write sqlite:PATH, for example sqlite:ads.db, or postgres://USER@HOST/DATABASE") // the text may have a password
	case path == "":
		return "", wrongUse("--db %s: the path is missing, for example sqlite:ads.db", url)
	}
	return path, nil
}

// checkDatabase reports a missing file before a server starts.
func checkDatabase(url string) error {
	path, err := databasePath(url)
	if err != nil {
		return err
	}
	if path != "" && !exists(path) {
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

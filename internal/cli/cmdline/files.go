package cmdline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"adshard/fault"
	"adshard/internal/node/database"
)

// DatabaseHelp describes flags that take the URL of a database.
const DatabaseHelp = "the database: sqlite:PATH or postgres://USER@HOST/DATABASE"

// DatabasePath parses a database's URL, and returns the path of sqlite:PATH; a
// database on a server has none.
func DatabasePath(url string) (string, error) {
	path, ok := strings.CutPrefix(url, "sqlite:")
	switch {
	case database.IsServer(url):
		return "", nil
	case url == "":
		return "", WrongUse("--db is missing: name the database, for example --db sqlite:ads.db")
	case !ok:
		return "", WrongUse("--db: this is not a database URL; write sqlite:PATH, for example sqlite:ads.db, or postgres://USER@HOST/DATABASE") // the text may have a password
	case path == "":
		return "", WrongUse("--db %s: the path is missing, for example sqlite:ads.db", url)
	}
	return path, nil
}

// CheckDatabase reports a missing file before a server starts.
func CheckDatabase(url string) error {
	path, err := DatabasePath(url)
	if err != nil {
		return err
	}
	if path != "" && !Exists(path) {
		return noDatabase(path)
	}
	return nil
}

// Exists reports whether there is a file, or may be.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func noDatabase(path string) error {
	return fault.Newf(fault.NotFound, "", "database %s does not exist; `adshard import --db sqlite:%s FILE` creates it", path, path)
}

// Readable reports missing files before anything else is done.
func Readable(files []string) error {
	for _, name := range files {
		if name == "-" {
			continue
		}
		info, err := os.Stat(name)
		if err == nil && info.IsDir() {
			return fmt.Errorf("%s is a directory; name the files in it", name)
		}
		if err == nil && info.Mode().IsRegular() { // a pipe can be opened once only
			var file *os.File
			if file, err = os.Open(name); err == nil {
				_ = file.Close()
			}
		}
		if err != nil {
			return fmt.Errorf("cannot read the file to import: %w", err)
		}
	}
	return nil
}

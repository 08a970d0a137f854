package cmdline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"adshard/fault"
	"adshard/internal/node/database"
	"adshard/internal/shell"
)

// DatabaseHelp describes flags that take the URL of a database.
const DatabaseHelp = "the database: sqlite:PATH or postgres://USER@HOST/DATABASE"

// DatabasePath parses a database's URL and returns the path in sqlite:PATH, or "" for a database on a server.
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

// CheckDatabase returns an error if the database's file is missing, before a server starts.
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

// Exists reports whether a file exists or may exist.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func noDatabase(path string) error {
	return fault.Newf(fault.NotFound, "", "database %s does not exist; `adshard import --db %s FILE` creates it", path, shell.Word("sqlite:"+path))
}

// Readable returns an error if a file is missing or cannot be read, before anything else is done.
func Readable(files []string) error {
	for _, name := range files {
		if name == "-" {
			continue
		}
		info, err := os.Stat(name)
		if err == nil && info.IsDir() {
			return fmt.Errorf("%s is a directory; name the files in it", name)
		}
		if err == nil && info.Mode().IsRegular() { // a pipe can be opened only once
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

package rocks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// databaseFile matches the names of files that RocksDB makes. Other files may lie beside them, such as the slave's log
// written by a service manager.
var databaseFile = regexp.MustCompile(`^(CURRENT|IDENTITY|LOCK|LOG(\.old\.\d+)?|MANIFEST-\d+|OPTIONS-\d+(\.dbtmp)?|\d+\.(sst|log|dbtmp|blob))$`)

// isEmpty reports whether nothing was ever written to the database in a directory.
func isEmpty(dir string) (bool, error) {
	log, err1 := hasFile(dir, ".log")
	tables, err2 := hasFile(dir, ".sst")
	return !log && !tables, errors.Join(err1, err2)
}

// hasFile reports whether a directory has a non-empty RocksDB file with an extension.
func hasFile(dir, ext string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, fileError(err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ext || !databaseFile.MatchString(e.Name()) {
			continue
		}
		switch info, err := e.Info(); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return false, fileError(err)
		case info.Size() > 0:
			return true, nil
		}
	}
	return false, nil
}

// filesOpen is the number of files that a database has open in addition to its tables: its directory, log, manifest and
// locks, and what a flush or compaction is writing. An empty database has 9 open; the rest is for flushes and
// compactions.
const filesOpen = 16

// Files returns the number of files that the database in a directory needs to have open. For a directory without a
// database, it returns the number for an empty one. RocksDB keeps all of its tables open.
func Files(dir string) uint64 {
	n := uint64(filesOpen)
	for _, at := range []string{dir, filepath.Join(dir, completeDir)} {
		tables, _ := filepath.Glob(filepath.Join(escapeGlob(at), "*.sst")) // the pattern is valid
		n += uint64(len(tables))
	}
	return n
}

package rocks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// databaseFile is the name of a file that RocksDB makes. Others may lie beside them, such as what a service manager
// logs of the slave.
var databaseFile = regexp.MustCompile(`^(CURRENT|IDENTITY|LOCK|LOG(\.old\.\d+)?|MANIFEST-\d+|OPTIONS-\d+(\.dbtmp)?|\d+\.(sst|log|dbtmp|blob))$`)

// isEmpty reports whether nothing was written to the database in a directory.
func isEmpty(dir string) (bool, error) {
	log, err1 := hasFile(dir, ".log")
	tables, err2 := hasFile(dir, ".sst")
	return !log && !tables, errors.Join(err1, err2)
}

// hasFile reports whether a directory has a file of RocksDB with an extension that is not empty.
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

// filesOpen is how many files a database has open beside its tables: its directory, log, manifest and locks, and what a
// flush or compaction is writing. An empty database has 9 open; the rest is for flushes and compactions.
const filesOpen = 16

// Files returns how many files the database in a directory needs to have open; for a directory without a database, how
// many an empty one needs. RocksDB keeps all of its tables open.
func Files(dir string) uint64 {
	n := uint64(filesOpen)
	for _, at := range []string{dir, filepath.Join(dir, completeDir)} {
		tables, _ := filepath.Glob(filepath.Join(escapeGlob(at), "*.sst")) // the pattern is valid
		n += uint64(len(tables))
	}
	return n
}

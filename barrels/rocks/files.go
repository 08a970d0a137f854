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

// filesOpen are a database's own: its directory, log, manifest, locks, what a flush writes, and what a compaction
// writes before the tables that it replaces are closed. An empty one has 9.
const filesOpen = 16

// Files returns how many files the database in a directory has open at least; of a directory without one, how many
// an empty one has. RocksDB keeps all of its tables open.
func Files(dir string) uint64 {
	n := uint64(filesOpen)
	for _, at := range []string{dir, filepath.Join(dir, completeDir)} {
		tables, _ := filepath.Glob(filepath.Join(at, "*.sst")) // the pattern has no fault
		n += uint64(len(tables))
	}
	return n
}

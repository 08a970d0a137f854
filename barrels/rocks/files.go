package rocks

import (
	"path/filepath"
)

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

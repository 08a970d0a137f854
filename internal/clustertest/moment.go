package clustertest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Moment is a copy of a slave's store without its log.
type Moment map[string][]byte

// TakeMoment copies a slave's store file by file, as an operator with cp would, whether the slave is running or not.
func TakeMoment(dir string) (Moment, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	m := Moment{}
	for _, e := range entries {
		if !e.Type().IsRegular() || !ofStore(e.Name()) || isLog(e.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist): // the slave has removed it
		case err != nil:
			return nil, err
		default:
			m[e.Name()] = content
		}
	}
	return m, nil
}

// Restore puts the files back, next to the present log, so that the store is a mix of two moments. The slave must be
// down.
func (m Moment) Restore(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && ofStore(e.Name()) && !isLog(e.Name()) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for name, content := range m {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// ofStore reports whether a file is RocksDB's.
func ofStore(name string) bool {
	for _, prefix := range []string{"CURRENT", "MANIFEST-", "IDENTITY", "OPTIONS-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return isLog(name) || strings.HasSuffix(name, ".sst")
}

// isLog reports whether a file is part of RocksDB's log.
func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

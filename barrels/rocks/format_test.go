package rocks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTableFormat: the tables of all families are of the version that every supported RocksDB reads, whatever this one
// writes by default. So a store can be opened by a program with another RocksDB.
func TestTableFormat(t *testing.T) {
	dir := t.TempDir()
	db, err := open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "OPTIONS-*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[len(files)-1])
	if err != nil {
		t.Fatal(err)
	}
	all, ours := strings.Count(string(text), " format_version="), strings.Count(string(text), fmt.Sprintf(" format_version=%d\n", tableFormat))
	if all != len(names()) || ours != all {
		t.Errorf("%d of %d families have tables of version %d, want all %d", ours, all, tableFormat, len(names()))
	}
}

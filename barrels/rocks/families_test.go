package rocks_test

import (
	"path/filepath"
	"testing"

	"github.com/linxGnu/grocksdb"

	"adshard/barrels/barreltest"
)

// BenchmarkSpace builds a store offline and reports the size on disk of the
// table files of each family, in bytes per keyword.
func BenchmarkSpace(b *testing.B) {
	c := barreltest.LoadCorpus(b, *keywords)
	var dir string
	for b.Loop() {
		dir = filepath.Join(b.TempDir(), "store")
		build(b, dir, c.Data)
	}
	all := int64(0)
	for name, size := range familySizes(b, dir) {
		b.ReportMetric(float64(size)/float64(c.Keywords()), name+"-B/keyword")
		all += size
	}
	b.ReportMetric(float64(all)/float64(c.Keywords()), "all-B/keyword")
}

// familySizes reads the sizes of a store's table files by family.
func familySizes(t testing.TB, dir string) map[string]int64 {
	o := grocksdb.NewDefaultOptions()
	defer o.Destroy()
	names, err := grocksdb.ListColumnFamilies(o, dir)
	if err != nil {
		t.Fatal(err)
	}
	options := make([]*grocksdb.Options, len(names))
	for i := range options {
		options[i] = o
	}
	db, handles, err := grocksdb.OpenDbForReadOnlyColumnFamilies(o, dir, names, options, false)
	if err != nil {
		t.Fatal(err)
	}
	sizes := make(map[string]int64)
	for _, f := range db.GetLiveFilesMetaData() {
		sizes[f.ColumnFamilyName] += f.Size
	}
	for _, h := range handles {
		h.Destroy()
	}
	db.Close()
	return sizes
}

package footprint

import (
	"os"
	"runtime"
	"testing"

	"adshard/barrels/index"
	"adshard/barrels/kv"
)

func TestMain(m *testing.M) {
	runtime.MemProfileRate = ProfileRate
	os.Exit(m.Run())
}

// TestTable: a dictionary's memory is found under its name, and all causes add up to what the
// system reports.
func TestTable(t *testing.T) {
	held := index.NewDictionary(1 << 20) // 64 MiB
	for i := range uint64(1 << 20) {
		held = held.Set(i+1, index.TermStats{Frequency: 1})
	}
	table, err := Measure(kv.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	found := int64(0)
	for _, c := range table.Causes {
		if c.Name == "dictionary" {
			found = c.Bytes
		}
	}
	if found < 60<<20 || found > 70<<20 {
		t.Errorf("the dictionary takes %d bytes", found)
	}
	if off := max(table.Unexplained, -table.Unexplained); off > table.Resident/10 {
		t.Errorf("of %d bytes %d are not explained: %v", table.Resident, table.Unexplained, table.Causes)
	}
	runtime.KeepAlive(held)
}

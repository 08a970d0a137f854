package rdb

import (
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"adshard/bench/layouts"
	"adshard/fault"
	"adshard/search/words"
)

// TestDamagedValues: values that are no FlatBuffers, and some that are nearly,
// are read without harm. Run it with -asan as well.
func TestDamagedValues(t *testing.T) {
	set := layouts.NewBuilder()
	set.Word("usb")
	set.Word("cable")
	set.Keyword(10_000, 5)
	b := newBuilder(set.Set(), 1, nil)
	good, err := b.matching(flat, 0)
	if err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(1, 2))
	const values = 5000
	value := func(i int) []byte {
		v := append([]byte(nil), good...)
		for range dice.IntN(4) {
			v[dice.IntN(len(v))] = byte(dice.Uint32() >> (dice.IntN(4) * 8))
		}
		if i%5 == 0 {
			binary.LittleEndian.PutUint32(v[4*dice.IntN(len(v)/4):], dice.Uint32())
		}
		return v[:dice.IntN(len(v)+1)]
	}
	dir := t.TempDir()
	matching := database{filepath.Join(dir, "matching"), cached.matching.String()}
	records := database{filepath.Join(dir, "records"), cached.records.String()}
	usb := words.Hash("usb")
	pair := func(i int) ([]byte, []byte, error) { return matchingKey(nil, usb, uint64(i)+1), value(i), nil }
	if err := b.write(t.Context(), matching, values, pair); err != nil {
		t.Fatal(err)
	}
	if err := b.records(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	d, err := open(matching, records, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	w := d.walker(true)
	defer w.close()
	w.query([]uint64{usb}, flat)
	for done, found := false, 0; !done; {
		// Those whose list of words became empty match; one of them has a record.
		n := 0
		if n, done, err = w.matches(); err != nil && !fault.Is(err, fault.Corrupt) {
			t.Fatal(err)
		}
		if found += n; done && (found == 0 || found == values) {
			t.Errorf("%d of %d match", found, values)
		}
	}
}

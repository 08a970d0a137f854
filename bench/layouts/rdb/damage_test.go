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

// TestDamagedValues: values that are not FlatBuffers, or not a message of Cap'n
// Proto, even if they nearly are, are read without harm. Run it with -asan as
// well.
func TestDamagedValues(t *testing.T) {
	for name, c := range map[string]codec{"FlatBuffers": flat, "Cap'n Proto": capn} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			matching := database{filepath.Join(dir, "matching"), cached.matching.String()}
			records := database{filepath.Join(dir, "records"), cached.records.String()}
			all := damagedValues(t, c, matching, records)
			d, err := open(matching, records, 1<<20, false)
			if err != nil {
				t.Fatal(err)
			}
			defer d.close()
			w := d.walker(true)
			defer w.close()
			w.query([]uint64{words.Hash("usb")}, c)
			for done, found := false, 0; !done; {
				// Values whose list of words has become empty match; one of them has a record.
				n := 0
				if n, done, err = w.matches(); err != nil && !fault.Is(err, fault.Corrupt) {
					t.Fatal(err)
				}
				if found += n; done && (found == 0 || found == len(all)) {
					t.Errorf("%d of %d match", found, len(all))
				}
			}
			if c == capn {
				readByTheLibrary(t, all)
			}
		})
	}
}

// damagedValues writes a database whose values are those of one keyword, damaged
// in many ways, and a database with that keyword's record. It returns the values.
func damagedValues(t *testing.T, c codec, matching, records database) (all [][]byte) {
	t.Helper()
	set := layouts.NewBuilder()
	set.Word("usb")
	set.Word("cable")
	set.Keyword(10_000, 5)
	b := newBuilder(set.Set(), 1, nil)
	good, err := b.matching(c, 0)
	if err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(1, 2))
	for i := range 5000 {
		v := append([]byte(nil), good...)
		for range dice.IntN(4) {
			v[dice.IntN(len(v))] = byte(dice.Uint32() >> (dice.IntN(4) * 8))
		}
		if i%5 == 0 {
			binary.LittleEndian.PutUint32(v[4*dice.IntN(len(v)/4):], dice.Uint32())
		}
		all = append(all, v[:dice.IntN(len(v)+1)])
	}
	usb := words.Hash("usb")
	pair := func(i int) ([]byte, []byte, error) { return matchingKey(nil, usb, uint64(i)+1), all[i], nil }
	if err := b.write(t.Context(), matching, len(all), pair); err != nil {
		t.Fatal(err)
	}
	if err := b.records(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	return all
}

// readByTheLibrary reads the values with Cap'n Proto's Go library. The only errors
// must be those for damaged data, and there must be some.
func readByTheLibrary(t *testing.T, all [][]byte) {
	t.Helper()
	d, refused := decoder{reuse: true}, 0
	for _, v := range all {
		if _, err := d.words(capn, v); fault.Is(err, fault.Corrupt) {
			refused++
		} else if err != nil {
			t.Errorf("%x: %v", v, err)
		}
	}
	if refused == 0 || refused == len(all) {
		t.Errorf("%d of %d are refused", refused, len(all))
	}
}

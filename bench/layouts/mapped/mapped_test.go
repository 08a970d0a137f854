package mapped

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"adshard/bench/layouts"
	"adshard/bench/layouts/layouttest"
	"adshard/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) { layouttest.Run(t, Layout()) }

// built writes the barrels of a small set.
func built(t testing.TB) string {
	t.Helper()
	b := layouts.NewBuilder()
	for _, words := range [][]string{{"usb", "cable"}, {"usb"}, {"cable", "red"}, {"žluť"}} {
		for _, w := range words {
			b.Word(w)
		}
		b.Keyword(10_000, 5)
	}
	dir := t.TempDir()
	st, err := Layout().Build(context.Background(), b.Set(), layouts.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestDamage: a barrel is refused if it is missing, cut off anywhere, too long
// or changed in any byte.
func TestDamage(t *testing.T) {
	dir := built(t)
	for _, name := range names {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what string, at int, now []byte) {
			t.Helper()
			if err := os.WriteFile(path, now, 0o644); err != nil {
				t.Fatal(err)
			}
			s, err := openStore(dir)
			if err == nil {
				_ = s.Close()
			}
			if !fault.Is(err, fault.Corrupt) {
				t.Fatalf("%s %s at %d: %v", name, what, at, err)
			}
		}
		for at := range whole {
			refused("cut off", at, whole[:at])
			changed := append([]byte(nil), whole...)
			changed[at] ^= 0x10
			refused("changed", at, changed)
		}
		refused("longer", len(whole), append(whole[:len(whole):len(whole)], make([]byte, 8)...))
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := openStore(dir); !fault.Is(err, fault.Corrupt) {
			t.Fatalf("%s is missing: %v", name, err)
		}
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFind: keys are found, however they are spread, and other keys are not.
func TestFind(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		key := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 20), rapid.Uint64Min(1<<64-20))
		known := rapid.MapOf(key, rapid.Just(true)).Draw(rt, "keys")
		b := &barrel{keys: sorted(known)}
		for i, k := range b.keys {
			if at, ok := b.find(k); !ok || int(at) != i {
				rt.Fatalf("key %d of %v: %d, %v", k, b.keys, at, ok)
			}
		}
		for range 20 {
			if k := key.Draw(rt, "key"); !known[k] {
				if _, ok := b.find(k); ok {
					rt.Fatalf("%d was found in %v", k, b.keys)
				}
			}
		}
	})
}

func sorted(m map[uint64]bool) []uint64 { return slices.Sorted(maps.Keys(m)) }

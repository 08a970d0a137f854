package slave

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/barrels/memory"
	"adshard/internal/node/memlimit"
)

// TestDataOutgrowsMemory: a slave whose terms outgrow its memory while it runs says so once, and says it again
// when that happens again; Check, which refuses to open the store then, has the same limit.
func TestDataOutgrowsMemory(t *testing.T) {
	store, err := barrels.Open(memory.NewDB(), barrels.Options{Name: "slave-0"})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Apply(t.Context(), barreltest.NewBuilder(t, barreltest.Small(60, "usb cable", "red shoes")).All()); err != nil {
		t.Fatal(err)
	}
	kept := always(store)
	if kept == 0 {
		t.Fatal("the store keeps nothing: this test shows nothing")
	}
	var out bytes.Buffer
	o := memoryWatch{memory: 64 << 20, store: store, log: slog.New(slog.NewTextHandler(&out, nil))}
	for _, step := range []struct {
		most uint64
		want int // times that it was told
	}{{kept, 0}, {kept - 1, 1}, {kept - 1, 1}, {kept, 1}, {kept - 1, 2}} {
		o.plan = memlimit.Plan{Data: 2 * step.most}
		o.check()
		if got := strings.Count(out.String(), "outgrown"); got != step.want {
			t.Fatalf("with %d of %d bytes it was told %d times, want %d: %s", kept, step.most, got, step.want, out.String())
		}
		if refused := o.plan.Check(o.memory, kept) != nil; refused != (kept > o.plan.MostAlways()) {
			t.Errorf("%d of %d bytes: refused %v", kept, o.plan.MostAlways(), refused)
		}
	}
}

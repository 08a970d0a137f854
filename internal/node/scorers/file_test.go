package scorers

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"adshard/fault"
	"adshard/internal/oracle"
	"adshard/search"
)

// model writes a model to a file, replacing what is there, and returns its id.
func model(t *testing.T, path string, bias int) search.ScorerID {
	t.Helper()
	text := fmt.Appendf(nil, `{"format":1,"bias":%d}`, bias)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	return oracle.ReadModel(text).ID
}

// TestRollOut: when a file is replaced, the newest two models are available. A master asks for a new model only when slaves have had time
// to read it, and a replaced model is kept as long as masters may ask for it.
func TestRollOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "model.json")
		first := model(t, path, 1)
		slave, err := Open(path, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		master, err := Open(path, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		go slave.Run(t.Context())
		go master.Run(t.Context())
		seen := map[search.ScorerID]bool{}
		check := func(during time.Duration) {
			t.Helper()
			for end := time.Now().Add(during); time.Now().Before(end); time.Sleep(time.Second / 4) {
				id := master.Asked()
				if seen[id] = true; slave.Find(id) == nil {
					t.Fatalf("the master asks for %v, which the slave does not have", id)
				}
			}
		}
		check(2 * time.Second)
		second := model(t, path, 2)
		check(2 * time.Second)
		third := model(t, path, 3) // too early
		check(3 * time.Second)
		if len(seen) != 1 || !seen[first] {
			t.Errorf("after 5 s of %v: %v were asked for", first, seen)
		}
		check(30 * time.Second)
		if !seen[second] || master.Asked() != third || slave.Find(first) != nil || slave.Find(second) == nil {
			t.Errorf("%v were asked for, now %v", seen, master.Asked())
		}
		if err := os.WriteFile(path, []byte(`{"format":1,`), 0o600); err != nil {
			t.Fatal(err)
		}
		check(20 * time.Second)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		check(20 * time.Second)
		if master.Asked() != third {
			t.Errorf("without a file %v is asked for", master.Asked())
		}
	})
}

// TestNoFile: without a file there is no model. The error for an unusable file names the file.
func TestNoFile(t *testing.T) {
	f, err := Open("", nil)
	if f != nil || err != nil || f.Find(search.ScorerID{1}) != nil || f.Asked() != (search.ScorerID{}) || Check("") != nil {
		t.Errorf("%v, %v", f, err)
	}
	f.Run(t.Context())
	path := filepath.Join(t.TempDir(), "model.json")
	for _, text := range []string{"", `{"format":2}`} {
		if text != "" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Open(path, slog.New(slog.DiscardHandler)); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != "scorer" || Check(path) == nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

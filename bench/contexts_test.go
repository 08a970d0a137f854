package bench

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"adshard/bench/openloop"
	"adshard/bench/workload"
)

// TestContexts: queries are asked with the contexts of a file in turn, and with further
// parameters; the error for an invalid file says where the fault is.
func TestContexts(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	w, err := workload.FromFile(file("queries", "red lamp\nblue lamp\ngreen lamp\n"), 1)
	if err != nil {
		t.Fatal(err)
	}
	list, err := readContexts(file("contexts", "location=2840&audience=a&audience=b\nlocation=2203\n"), url.Values{"slots": {"8"}})
	if err != nil {
		t.Fatal(err)
	}
	got, _, refused := scheduled(w, list, 0, 0)
	want := []openloop.Target{
		{Path: "/v1/search?q=red+lamp&audience=a&audience=b&location=2840&slots=8"}, {Path: "/v1/search?q=blue+lamp&location=2203&slots=8"},
		{Path: "/v1/search?q=green+lamp&audience=a&audience=b&location=2840&slots=8"},
	}
	if !slices.Equal(got, want) || refused != 0 {
		t.Errorf("asked\n%q, want\n%q", got, want)
	}
	if list, err := readContexts("", url.Values{"slots": {"8"}}); err != nil || len(list) != 1 || list[0].Encode() != "slots=8" {
		t.Errorf("without a file: %v, %v", list, err)
	}
	for name, text := range map[string]string{"empty": "", "wrong": "location=2840\nlocation=%zz\n"} {
		if _, err := readContexts(file(name, text), nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

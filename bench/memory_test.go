package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/bench/measure"
)

// TestBuildAndMemory: a store that was built without a database is opened, has all
// keywords, and is measured; invalid flags are refused.
func TestBuildAndMemory(t *testing.T) {
	dir := t.TempDir()
	store, queries := filepath.Join(dir, "store"), filepath.Join(dir, "queries.txt")
	if err := os.WriteFile(queries, []byte("usb cable\nlaptop\nred shoes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	build := BuildCommand()
	build.SetArgs([]string{"--keywords", "3000", "--out", store, "--data", "extract"})
	var out bytes.Buffer
	build.SetOut(&out)
	build.SetErr(&out)
	if err := build.Execute(); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	report := filepath.Join(dir, "memory.json")
	run := func(args ...string) error {
		c := MemoryCommand()
		c.SilenceErrors, c.SilenceUsage = true, true
		c.SetOut(&out)
		c.SetArgs(append([]string{"--barrels", store, "--queries", queries, "--json", report}, args...))
		return c.Execute()
	}
	if err := run("--memory", "512MiB"); err != nil {
		t.Fatal(err)
	}
	r, err := measure.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	resident, found := r.Find("resident")
	terms, _ := r.Find("dictionary")
	keywords, _ := r.Find("keywords")
	mean, _ := r.Find("search mean")
	disk, _ := r.Find("disk per keyword")
	if !found || resident.Value*3000 < 1<<20 || terms.Value <= 0 || keywords.Value != 3000 || mean.Value <= 0 || disk.Value <= 0 {
		t.Errorf("%+v", r)
	}
	for flags, says := range map[string]string{"--memory=1MiB": "give at least", "--memory=much": "--memory", "--every=0": "--every", "--db=other:x": "sqlite:"} {
		if err := run(flags); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", flags, err)
		}
	}
}

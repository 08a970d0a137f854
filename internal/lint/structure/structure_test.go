package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/internal/lint/source"
)

// TestRun compares the figures of a small checkout, twice, with figures counted by hand.
func TestRun(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("testdata", "want.md"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var got bytes.Buffer
		if err := run(t.Context(), filepath.Join("testdata", "checkout"), &got); err != nil {
			t.Fatal(err)
		}
		if got.String() != string(want) {
			t.Fatalf("figures are\n%s\nwant\n%s", got.String(), want)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	const table = "| package | |\n| --- | --- |\n| `barrels` | |\n"
	good := map[string]string{
		"go.mod": "module " + source.Module + "\n\ngo 1.26.0\n", "docs/architecture.md": table, "cmd/x/main.go": "package main\n\nfunc main() {}\n",
		"search/s.go": "package search\n", "barrels/b.go": "package barrels\n\ntype T int\n\nfunc (T) Search() {}\n",
	}
	for _, c := range []struct{ name, text, want string }{
		{"docs/architecture.md", "no table\n", "no table"},
		{"docs/architecture.md", "", "order of the packages"},
		{"go.mod", "", "go list"},
		{"barrels/b.go", "package barrels\n", "no method Search"},
		{"barrels/b.go", "package barrels\n\nvar x = y\n", "undefined: y"},
		{"barrels/b.go", "nonsense", "b.go"},
		{"good", "", ""},
	} {
		dir := t.TempDir()
		for name, text := range good {
			if name == c.name {
				text = c.text
			}
			if text == "" {
				continue
			}
			name = filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		err := run(t.Context(), dir, new(bytes.Buffer))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("a good checkout: %v", err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s %q: %v, want %q", c.name, c.text, err, c.want)
		}
	}
}

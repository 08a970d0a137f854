package lint

import (
	"os"
	"slices"
	"strings"
	"testing"

	"adshard/internal/lint/source"
)

// TestRacePackages checks that the packages to be tested with the race detector exist and have tests, since the list
// does not change when a package moves.
func TestRacePackages(t *testing.T) {
	list, err := os.ReadFile("../../deploy/race-packages.txt")
	if err != nil {
		t.Fatal(err)
	}
	tree := read(t)
	for line := range strings.Lines(string(list)) {
		name := strings.TrimSpace(line)
		i := slices.IndexFunc(tree.Packages, func(p *source.Package) bool { return "./"+p.Path == name })
		if i < 0 || !slices.ContainsFunc(tree.Packages[i].Files, func(f *source.File) bool { return f.Test }) {
			t.Errorf("deploy/race-packages.txt: %s is not a package with tests", name)
		}
	}
}

package mutation

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// parts is into how many parts the packages are divided whose tests must notice: an ordinary run makes the mutations of one part,
// another one for each commit, so that it takes a minute or two and a few commits cover all.
const parts = 16

// part returns the mutations of this run: with MUTATIONS=all (make mutations) all of them, with a number those of that part, otherwise
// those of the commit's.
func part(t *testing.T, all map[string]mutation) map[string]mutation {
	t.Helper()
	chosen := os.Getenv("MUTATIONS")
	if chosen == "all" {
		return all
	}
	if chosen == "" {
		chosen = ofCommit(t)
	}
	n, err := strconv.Atoi(chosen)
	if err != nil || n < 0 || n >= parts {
		t.Fatalf("MUTATIONS=%s: all, or 0 to %d", chosen, parts-1)
	}
	var packages []string
	for m := range maps.Values(all) {
		packages = append(packages, m.tested)
	}
	slices.Sort(packages)
	packages = slices.Compact(packages)
	some := maps.Clone(all)
	maps.DeleteFunc(some, func(_ string, m mutation) bool { return slices.Index(packages, m.tested)%parts != n })
	t.Logf("part %s of %d: %d of %d mutations (again: MUTATIONS=%s; all: make mutations)", chosen, parts, len(some), len(all), chosen)
	return some
}

// ofCommit is the part of the newest commit, by its hash.
func ofCommit(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "0" // no checkout
	}
	id, err := strconv.ParseUint(strings.TrimSpace(string(out))[:8], 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatUint(id%parts, 10)
}

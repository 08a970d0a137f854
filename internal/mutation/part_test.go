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

// parts is the number of parts into which the mutations are divided by the packages whose tests must notice. An ordinary run runs
// only one part, which depends on the commit, so that it takes a minute or two and a few commits cover all.
const parts = 16

// part returns the mutations of this run: all of them with MUTATIONS=all (make mutations), one part if MUTATIONS is its number, and
// otherwise the part of the newest commit.
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

// ofCommit returns the number of the newest commit's part, computed from its hash.
func ofCommit(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "0" // not a checkout
	}
	id, err := strconv.ParseUint(strings.TrimSpace(string(out))[:8], 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatUint(id%parts, 10)
}

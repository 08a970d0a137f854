package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestBlocklist(t *testing.T) {
	db := "sqlite:" + filepath.Join(t.TempDir(), "ads.db")
	if status, _, errOut := run(t, "adshard", "import", "--db", db, file(t, "ads.csv", editor)); status != exitDone {
		t.Fatal(errOut)
	}
	do := func(want int, args ...string) (out, errOut string) {
		t.Helper()
		status, out, errOut := run(t, "adshard", append([]string{"blocklist", args[0], "--db", db}, args[1:]...)...)
		if status != want {
			t.Errorf("%v: %d %q %q", args, status, out, errOut)
		}
		return out, errOut
	}
	if _, errOut := do(exitDone, "list"); !strings.Contains(errOut, "no block list") {
		t.Error(errOut)
	}
	domains := file(t, "domains.txt", "www.B.example\n\na.example\n")
	if out, _ := do(exitDone, "set", "family", "--domains", domains, "--categories", "kids,alcohol/wine", "--advertisers", "3,1"); out != "block list family: 6 entries, version 1\n" {
		t.Error(out)
	}
	line, _ := do(exitDone, "show", "family")
	if line != `{"type":"blocklist","name":"family","advertisers":[1,3],"domains":["a.example","b.example"],"categories":["alcohol/wine","kids"],"block_uncategorised":false}`+"\n" {
		t.Error(line)
	}
	do(exitDone, "set", "family", "--uncategorised", "--categories", "")
	if out, _ := do(exitDone, "show", "family"); !strings.HasSuffix(out, `"domains":["a.example","b.example"],"categories":[],"block_uncategorised":true}`+"\n") {
		t.Error(out)
	}
	// An import can read what show prints.
	if status, out, errOut := run(t, "adshard", "import", "--db", db, file(t, "lists.jsonl", line)); status != exitDone || !strings.Contains(out, "block list  0        1") {
		t.Errorf("%d %q %q", status, out, errOut)
	}
	if out, _ := do(exitDone, "show", "family"); out != line {
		t.Error(out)
	}
	if out, _ := do(exitDone, "list"); !strings.Contains(out, "family  3") {
		t.Error(out)
	}
	do(exitDone, "remove", "family")
	for _, args := range [][]string{{"show", "family"}, {"remove", "family"}} {
		if _, errOut := do(exitFailed, args...); !strings.Contains(errOut, "family") {
			t.Error(errOut)
		}
	}
	for _, args := range [][]string{{"set", "A"}, {"set", "a", "b"}, {"show"}, {"list", "x"}, {"set", "a", "--categories", "A"}, {"set", "a", "--domains", "/none"}, {"set", "a", "--advertisers", "x"}} {
		do(exitUsage, args...)
	}
}

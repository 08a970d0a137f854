package version

import (
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	from := func(module, revision, modified string) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: module}, Settings: []debug.BuildSetting{
			{Key: "-trimpath", Value: "true"}, {Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified},
		}}
	}
	for _, c := range []struct {
		info            *debug.BuildInfo
		release, commit string
		want            string
	}{
		{from("(devel)", "", ""), "1.2.0", "c0ffee", "1.2.0 (commit c0ffee, go1.26.0"},
		{from("v0.0.0-2026", "beef", "true"), "1.2.0", "c0ffee", "1.2.0 (commit c0ffee, go1.26.0"},
		{from("v0.0.0-2026", "beef", "false"), "", "", "v0.0.0-2026 (commit beef, go1.26.0"},
		{from("v0.0.0-2026+dirty", "beef", "true"), "", "", "v0.0.0-2026+dirty (commit beef-modified, go1.26.0"},
		{from("(devel)", "", ""), "", "", "(devel) (commit unknown, go1.26.0"},
		{new(debug.BuildInfo), "", "", "unknown (commit unknown, " + runtime.Version()},
	} {
		if got := buildOf(c.info, c.release, c.commit).String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q %q of %+v: %s, want %s", c.release, c.commit, c.info, got, c.want)
		}
	}
}

func TestCurrent(t *testing.T) {
	if b := Current(); b.Go != runtime.Version() || b.Platform != runtime.GOOS+"/"+runtime.GOARCH || b.Version == "" {
		t.Errorf("%+v", b)
	}
}

// TestTheLinkerSets checks the names of the variables that the linker sets, since it ignores unknown names.
func TestTheLinkerSets(t *testing.T) {
	out, err := exec.Command("go", "run", "-ldflags", "-X adshard/internal/version.release=1.2.0 -X adshard/internal/version.commit=c0ffee", "./testdata/print").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "1.2.0 (commit c0ffee, "+runtime.Version()) {
		t.Errorf("%v: %s", err, out)
	}
}

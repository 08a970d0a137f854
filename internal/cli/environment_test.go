package cli

import (
	"strings"
	"testing"
)

// TestEnvironment: an environment variable overrides the file, and the command line overrides both.
func TestEnvironment(t *testing.T) {
	path := file(t, "c.yaml", "listen: file\nmax_slots: 7\ncache: {bytes: 7}\n")
	for _, c := range []struct {
		name, text, args string
		listen           string
		slots, bytes     int
		on               bool
	}{
		{"ADSHARD_UNKNOWN", "x", "", "file", 7, 7, false},
		{"ADSHARD_LISTEN", "variable", "", "variable", 7, 7, false},
		{"ADSHARD_LISTEN", "variable", "--listen flag", "flag", 7, 7, false},
		{"ADSHARD_LISTEN", "", "", "file", 7, 7, false},
		{"ADSHARD_MAX_SLOTS", "8", "", "file", 8, 7, false},
		{"ADSHARD_MAX_SLOTS", "eight", "--max-slots 9", "file", 9, 7, false},
		{"ADSHARD_CACHE_BYTES", "8", "", "file", 7, 8, false},
		{"ADSHARD_ON", "true", "", "file", 7, 7, true},
		{"ADSHARD_VERSION", "1.0.0", "", "file", 7, 7, false}, // set by an image, for example
	} {
		t.Run(c.name+"="+c.text+" "+c.args, func(t *testing.T) {
			t.Setenv(c.name, c.text)
			status, got, _, errOut := sampled(t, append([]string{"--config", path}, strings.Fields(c.args)...)...)
			if status != exitDone || got.Listen != c.listen || got.Slots != c.slots || got.Cache.Bytes != uint64(c.bytes) || got.On != c.on {
				t.Errorf("%d %s: %+v", status, errOut, got)
			}
		})
	}
	t.Run("the file itself", func(t *testing.T) {
		t.Setenv("ADSHARD_CONFIG", path)
		if status, got, _, errOut := sampled(t); status != exitDone || got.Listen != "file" {
			t.Errorf("%d %s: %+v", status, errOut, got)
		}
	})
}

// TestEnvironmentOfCommands: a required flag may be given by its variable, and errors about the value name the
// variable.
func TestEnvironmentOfCommands(t *testing.T) {
	t.Setenv("ADSHARD_DB", "sqlite:"+t.TempDir()+"/ads.db")
	if status, out, errOut := run(t, "adshard", "import", file(t, "good.csv", editor)); status != exitDone || !strings.HasPrefix(out, "2 rows") {
		t.Errorf("%d %q %q", status, out, errOut)
	}
	t.Setenv("ADSHARD_SLOTS", "four")
	status, out, errOut := run(t, "adshard", "query", "a")
	if status != exitUsage || out != "" || !strings.Contains(errOut, "ADSHARD_SLOTS") || strings.Contains(errOut, "strconv") {
		t.Errorf("%d %q %q", status, out, errOut)
	}
}

// TestNothingIsErasedByAVariable: a variable that was set for other commands, such as reports, erases nothing.
func TestNothingIsErasedByAVariable(t *testing.T) {
	t.Setenv("ADSHARD_ADVERTISER", "7")
	status, _, errOut := run(t, "adshard", "events", "erase", "--db", "sqlite:"+t.TempDir()+"/ads.db")
	if status != exitUsage || !strings.Contains(errOut, "--advertiser is missing") {
		t.Errorf("%d %q", status, errOut)
	}
}

// TestCompletion: shells complete commands and flags.
func TestCompletion(t *testing.T) {
	status, out, errOut := run(t, "adshard", "completion", "bash")
	if status != exitDone || !strings.Contains(out, "complete -o default -F __start_adshard adshard") {
		t.Errorf("%d %q %s", status, out, errOut)
	}
	if _, out, _ := run(t, "adshard", "__complete", "slaves", "dr"); !strings.HasPrefix(out, "drain\t") {
		t.Errorf("slaves dr: %q", out)
	}
	if _, out, _ := run(t, "adshard", "__complete", "import", "--rej"); !strings.HasPrefix(out, "--rejects\t") {
		t.Errorf("import --rej: %q", out)
	}
}

package cli

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckConfig: each program reports the faults that would keep it from starting, with the line of the file. A port in
// use and a missing directory do not matter, and nothing is created.
func TestCheckConfig(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	none := filepath.Join(t.TempDir(), "none")
	db := tutorialDB(t)
	good := map[string]string{
		"up":          "db: sqlite:" + db + "\ndata: " + none + "\nadmin: " + taken.Addr().String() + "\n",
		"master":      "http: " + taken.Addr().String() + "\n",
		"slave":       "dir: " + none + "\nlisten: " + taken.Addr().String() + "\n",
		"balancer":    "db: sqlite:" + db + "\nadmin: " + taken.Addr().String() + "\n",
		"distributor": "db: sqlite:" + db + "\nadmin: " + taken.Addr().String() + "\n",
		"collector":   "db: sqlite:" + db + "\nadmin: " + taken.Addr().String() + "\n",
	}
	before := tree(t, filepath.Dir(db))
	for program, text := range good {
		status, out, errOut := run(t, "adshard", program, "--check-config", "--config", file(t, program+".yaml", text))
		if status != exitDone || out != "the configuration is valid\n" || errOut != "" {
			t.Errorf("%s: %d %q %q", program, status, out, errOut)
		}
		bad := file(t, program+".yaml", "# of a test\n"+text+"tls:\n  mode: none\n")
		lines := strings.Count(text, "\n") + 3
		says := bad + ": line " + string(rune('0'+lines)) + ": config: tls.mode: "
		for _, check := range []string{"--check-config=true", "--check-config=false"} { // a start reports the same
			status, out, errOut = run(t, "adshard", program, check, "--config", bad)
			if status != exitUsage || out != "" || !strings.Contains(errOut, says) {
				t.Errorf("%s %s: %d %q; want %q", program, check, status, errOut, says)
			}
		}
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a directory was made")
	}
	if now := tree(t, filepath.Dir(db)); now != before {
		t.Errorf("beside the database: %s; there was %s", now, before)
	}
}

// TestLinesAreThoseOfTheFile: an error about a flag names no line, and each error about a file names its line.
func TestLinesAreThoseOfTheFile(t *testing.T) {
	path := file(t, "c.yaml", "timeout: 1h\nprofile: seznam\n")
	for _, c := range []struct {
		args string
		says []string
		not  string
	}{
		{"", []string{path + ": line 1: config: timeout: ", path + ": line 2: config: profile: "}, ""},
		{"--timeout 2h", []string{"config: timeout: 2h0m0s", ": line 2: config: profile: "}, "line 1"},
		{"--timeout 1s --profile sklik --explain never", []string{"config: explain: "}, "line "},
	} {
		status, _, errOut := run(t, "master", append([]string{"--check-config", "--config", path}, strings.Fields(c.args)...)...)
		for _, text := range c.says {
			if status != exitUsage || !strings.Contains(errOut, text) {
				t.Errorf("%s: %d %q; want %q", c.args, status, errOut, text)
			}
		}
		if c.not != "" && strings.Contains(errOut, c.not) {
			t.Errorf("%s: %q has %q", c.args, errOut, c.not)
		}
	}
	for args, says := range map[string]string{
		"balancer --check-config --db ads.db":                              "sqlite:PATH",
		"balancer --check-config --db sqlite:a.db --log-level loud":        "debug, info, warn or error",
		"balancer --check-config --db sqlite:a.db --events a.db-events":    "config: events: this is not a database URL",
		"balancer --check-config --db sqlite:a.db --events sqlite:":        "config: events: this is not a database URL",
		"balancer --check-config --db sqlite:a.db --events sqlite:a.db":    "config: events: must be a different file",
		"collector --check-config --db sqlite:a.db --events postgre://b/c": "config: events: this is not a database URL",
		"up --check-config": "db: must not be empty",
		"collector --check-config --config " + file(t, "d.yaml", "db: [\n"): "line ",
	} {
		if status, out, errOut := run(t, "adshard", strings.Fields(args)...); status != exitUsage || out != "" || !strings.Contains(errOut, says) {
			t.Errorf("%s: %d %q; want %q", args, status, errOut, says)
		}
	}
}

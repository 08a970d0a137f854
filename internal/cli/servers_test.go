package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestServersPrintTheirConfig: a printed configuration can be read again, and is then the same.
func TestServersPrintTheirConfig(t *testing.T) {
	for _, c := range []struct {
		program string
		args    []string
		says    string
	}{
		{"adshard", []string{"up", "--db", "sqlite:x.db", "--slaves", "7"}, "slaves: 7\n"},
		{"adshard", []string{"up", "--db", "sqlite:x.db", "--languages", ""}, "languages: cs,en\n"},
		{"adshard", []string{"slave", "--name", "slave-3"}, "name: slave-3\n"},
		{"master", []string{"--profile", "sklik", "--timeout", "1s"}, "profile: sklik\n"},
		{"slave", []string{"--dir", "/var/lib/adshard"}, "dir: /var/lib/adshard\n"},
		{"balancer", []string{"--db", "sqlite:x.db", "--weights-ad", "3"}, "  ad: 3\n"},
	} {
		status, out, errOut := run(t, c.program, append(c.args, "--print-config")...)
		if status != exitDone || !strings.Contains(out, c.says) {
			t.Errorf("%s %v: %d %q %q", c.program, c.args, status, out, errOut)
			continue
		}
		args := []string{"--config", file(t, "c.yaml", out), "--print-config"}
		if c.program == "adshard" {
			args = append(c.args[:1:1], args...)
		}
		if status, again, errOut := run(t, c.program, args...); status != exitDone || again != out {
			t.Errorf("%s %v: %d %q %q; want %q", c.program, args, status, again, errOut, out)
		}
	}
}

func TestServersRefuseWrongUse(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		program string
		args    []string
		status  int
		says    string
	}{
		{"adshard", []string{"up"}, exitUsage, "db"},
		{"adshard", []string{"up", "--db", "postgres://u:secret@h/d"}, exitFailed, "password file"},
		{"adshard", []string{"up", "--db", "ads.db"}, exitUsage, "sqlite:PATH"},
		{"adshard", []string{"up", "--db", "sqlite:" + dir + "/none.db"}, exitFailed, "`adshard import --db sqlite:" + dir + "/none.db FILE` creates it"},
		{"adshard", []string{"up", "--db", "sqlite:x.db", "--slaves", "65"}, exitUsage, "slaves"},
		{"adshard", []string{"up", "--db", "sqlite:x.db", "--http", "8080"}, exitUsage, "HOST:PORT"},
		{"adshard", []string{"barrels", "build"}, exitUsage, "--db is missing"},
		{"adshard", []string{"barrels", "build", "--db", "sqlite:" + dir + "/none.db"}, exitFailed, "creates it"},
		{"adshard", []string{"barrels", "build", "--db", "sqlite:" + dir, "--out", dir, "--strategy", "best"}, exitUsage, "strategy"},
		{"master", []string{"--profile", "best"}, exitUsage, "must be default, sklik, or the path of a file"},
		{"master", []string{"run"}, exitUsage, "takes no argument"},
		{"slave", []string{"--nonsense"}, exitUsage, "unknown flag"},
		{"balancer", nil, exitUsage, "db"},
		{"balancer", []string{"--config", file(t, "b.yaml", "dbb: x\n")}, exitUsage, "dbb"},
	} {
		status, out, errOut := run(t, c.program, c.args...)
		if status != c.status || !strings.Contains(errOut, c.says) || out != "" {
			t.Errorf("%s %v: %d %q %q; want %d, %q", c.program, c.args, status, out, errOut, c.status, c.says)
		}
	}
}

// TestImportUpQuery follows a newcomer's steps: import, start a cluster, query it, ask why, list the slaves, stop it.
func TestImportUpQuery(t *testing.T) {
	dir := t.TempDir()
	db := "sqlite:" + filepath.Join(dir, "ads.db")
	if status, _, errOut := run(t, "adshard", "import", "--db", db, file(t, "ads.csv", editor)); status != exitDone {
		t.Fatal(errOut)
	}
	built := filepath.Join(dir, "built")
	if status, out, errOut := run(t, "adshard", "barrels", "build", "--db", db, "--slaves", "2", "--out", built); status != exitDone ||
		!strings.Contains(out, "1 keywords of 1 groups") {
		t.Fatalf("%d %q %q", status, out, errOut)
	}
	http, admin := runUp(t, "--db", db, "--slaves", "2", "--barrels", built)
	status, out, errOut := run(t, "adshard", "query", "--addr", http, "cheap", "usb", "cable")
	if status != exitDone || !strings.Contains(out, "Cables") || !strings.Contains(out, "broad/identical  0.01") {
		t.Errorf("query: %d %q %q", status, out, errOut)
	}
	status, out, errOut = run(t, "adshard", "query", "--addr", http, "--explain", "usb", "cable")
	if status != exitDone || !strings.Contains(out, "won place 1 at 0.01, the reserve") {
		t.Errorf("explain: %d %q %q", status, out, errOut)
	}
	status, out, errOut = run(t, "adshard", "slaves", "list", "--addr", admin)
	if status != exitDone || !strings.Contains(out, "slave-1") || !strings.Contains(out, "serving") {
		t.Errorf("slaves list: %d %q %q", status, out, errOut)
	}
	status, out, errOut = run(t, "adshard", "balance", "status", "--addr", admin, "--json")
	var even struct {
		View, Epoch   uint64
		Strategy      string
		MaxOverMean   float64 `json:"max_over_mean"`
		LowerBound    float64 `json:"lower_bound"`
		Moved         struct{ Items, Bytes *uint64 }
		MovesInFlight []struct{ Slice uint64 } `json:"moves_in_flight"`
	}
	if err := json.Unmarshal([]byte(out), &even); status != exitDone || err != nil || even.View == 0 || even.Epoch == 0 ||
		even.Strategy != "weighted-move-fast" || even.MaxOverMean < 1 || even.LowerBound < 1 || even.Moved.Items == nil || even.MovesInFlight == nil {
		t.Errorf("balance status: %d %q %q %v", status, out, errOut, err)
	}
	for command, want := range map[string]string{
		"balance status": "Strategy weighted-move-fast", "balance slices": " slices, view", "balance plan": "proposes 0 operations",
		"balance why 1": "Slice 1 is on slave-", "balance strategy": "weighted-move: ", "balance pause": "is paused", "balance resume": "is resumed",
	} {
		status, out, errOut := run(t, "adshard", append(strings.Fields(command), "--addr", admin)...)
		if status != exitDone || !strings.Contains(out, want) {
			t.Errorf("%s: %d %q %q", command, status, out, errOut)
		}
	}
	status, _, errOut = run(t, "adshard", "barrels", "build", "--db", db, "--slaves", "2", "--out", built)
	if status != exitFailed || !strings.Contains(errOut, built) {
		t.Errorf("built twice: %d %q", status, errOut)
	}
}

// runUp runs a cluster until the test ends, and checks that it ends cleanly.
func runUp(t *testing.T, args ...string) (http, admin string) {
	t.Helper()
	http, admin, _, end := startUp(t, args...)
	t.Cleanup(end)
	return http, admin
}

// startUp runs a cluster until end is called or the test ends, and checks that it ends cleanly. Its log can be read
// then.
func startUp(t *testing.T, args ...string) (http, admin string, log *bytes.Buffer, end func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	read, write := io.Pipe()
	ended := make(chan int, 1)
	log = new(bytes.Buffer)
	go func() {
		args := append([]string{"up", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)
		ended <- Main(ctx, "adshard", args, Streams{In: strings.NewReader(""), Out: write, Err: log})
		_ = write.Close()
	}()
	end = sync.OnceFunc(func() {
		cancel()
		go func() { _, _ = io.Copy(io.Discard, read) }()
		if status := <-ended; status != exitDone {
			t.Errorf("up ended with %d: %s", status, log.String())
		}
		_ = read.Close()
	})
	lines := bufio.NewScanner(read)
	for lines.Scan() {
		kind, url, _ := strings.Cut(lines.Text(), " ")
		switch kind {
		case "admin":
			admin = url
		case "ready":
			return url, admin, log, end
		}
	}
	end()
	t.Fatalf("up ended before it was ready: %s", log.String())
	return "", "", nil, nil
}

// TestFailedUpClaimsNothing: if a port is in use, `up` says which flag to change and does not claim its directory, so
// that another number of slaves can start on it.
func TestFailedUpClaimsNothing(t *testing.T) {
	dir := t.TempDir()
	db, data := "sqlite:"+filepath.Join(dir, "ads.db"), filepath.Join(dir, "data")
	if status, _, errOut := run(t, "adshard", "import", "--db", db, file(t, "ads.csv", editor)); status != exitDone {
		t.Fatal(errOut)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, args := range [][]string{
		{"--http", taken.Addr().String(), "--admin", "127.0.0.1:0"},
		{"--http", "127.0.0.1:0", "--admin", taken.Addr().String()},
		{"--http", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--lexicon", filepath.Join(dir, "none")},
	} {
		status, _, errOut := run(t, "adshard", append([]string{"up", "--db", db, "--data", data, "--slaves", "1"}, args...)...)
		if status != exitFailed || len(args) == 4 && (!strings.Contains(errOut, taken.Addr().String()) || !strings.Contains(errOut, "choose another address with --")) {
			t.Errorf("%v: %d %q", args, status, errOut)
		}
		if _, err := os.Stat(data); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v left its directory behind: %v", args, err)
		}
	}
	_, _, _, end := startUp(t, "--db", db, "--data", data, "--slaves", "2")
	end()
	// The stores of an earlier start stay when a later start fails.
	status, _, errOut := run(t, "adshard", "up", "--db", db, "--data", data, "--slaves", "2", "--http", taken.Addr().String(), "--admin", "127.0.0.1:0")
	if _, err := os.Stat(filepath.Join(data, "slave-1", "CURRENT")); status != exitFailed || err != nil {
		t.Errorf("%d %q: %v", status, errOut, err)
	}
	status, _, errOut = run(t, "adshard", "up", "--db", db, "--data", data, "--slaves", "3", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	if status != exitFailed || !strings.Contains(errOut, "holds the stores of 2 slaves") {
		t.Errorf("%d %q", status, errOut)
	}
}

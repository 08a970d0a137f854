package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adshard/internal/node/doctor"
)

// opened makes files and directories (names that end in /) that others may read.
func opened(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path, mode := filepath.Join(dir, name), os.FileMode(0o644)
		var err error
		if strings.HasSuffix(name, "/") {
			mode = 0o755
			err = os.MkdirAll(path, mode)
		} else if _, e := os.Stat(path); e != nil {
			err = os.WriteFile(path, nil, mode)
		}
		if err == nil {
			err = os.Chmod(path, mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// watchedLog is a log that several goroutines write and read.
type watchedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *watchedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *watchedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestProgramsWarnOfFilesThatOthersMayRead: each program warns once, at its start, of every file that it opens and
// that others may read, with the command that corrects this. It does not warn of private files.
func TestProgramsWarnOfFilesThatOthersMayRead(t *testing.T) {
	const peers = " --balancer 127.0.0.1:1 --admin 127.0.0.1:0"
	for program, c := range map[string]struct {
		args string
		open []string
	}{
		"balancer":    {"--db DB --listen 127.0.0.1:0 --admin 127.0.0.1:0", []string{"ads.db"}},
		"distributor": {"--name d --db DB --listen 127.0.0.1:0 --advertise 127.0.0.1:7" + peers, []string{"ads.db"}},
		"collector":   {"--name c --db DB --http 127.0.0.1:0 --admin 127.0.0.1:0", []string{"ads.db", "ads.db-events"}},
		"slave":       {"--name s --listen 127.0.0.1:0 --advertise 127.0.0.1:7 --dir DIR/store" + peers, []string{"store/"}},
		"master":      {"--name m --http 127.0.0.1:0 --query-log-file DIR/queries" + peers, []string{"queries", "queries.1"}},
	} {
		t.Run(program, func(t *testing.T) {
			path := tutorialDB(t)
			dir := filepath.Dir(path)
			opened(t, dir, c.open...)
			args := strings.Fields(strings.NewReplacer("DB", "sqlite:"+path, "DIR", dir).Replace(c.args))
			log := startedUntil(t, program, args, func(log string) bool { return strings.Contains(log, "chmod -R go= ") })
			_, command, _ := strings.Cut(log, "chmod -R go= ")
			if strings.Contains(command, "chmod") {
				t.Errorf("warns more than once:\n%s", log)
			}
			for _, name := range c.open { // the files that SQLite adds to an open database are open to others, too
				if !strings.Contains(command, filepath.Join(dir, name)) {
					t.Errorf("the command lacks %s:\n%s", name, log)
				}
			}
		})
	}
}

// startedUntil runs a program until logged returns true for its log, and returns the log.
func startedUntil(t *testing.T, program string, args []string, logged func(string) bool) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	log, ended := new(watchedLog), make(chan int, 1)
	go func() {
		ended <- Main(ctx, program, args, Streams{In: strings.NewReader(""), Out: new(watchedLog), Err: log})
	}()
	for !logged(log.String()) {
		select {
		case status := <-ended:
			t.Fatalf("%s ended with %d: %s", program, status, log)
		case <-time.After(5 * time.Millisecond):
		}
	}
	cancel()
	<-ended
	return log.String()
}

// TestDoctorTellsFilesThatOthersMayRead: the doctor names files of a running cluster that others may read, with a
// command after which it has no more complaints.
func TestDoctorTellsFilesThatOthersMayRead(t *testing.T) {
	path := tutorialDB(t)
	dir := filepath.Dir(path)
	stores, queries := filepath.Join(dir, "stores"), filepath.Join(dir, "queries")
	_, admin, log, end := startUp(t, "--db", "sqlite:"+path, "--slaves", "1", "--data", stores, "--collector", "127.0.0.1:0", "--query-log-file", queries)
	told := func() *doctor.Finding {
		_, out, errOut := run(t, "adshard", "doctor", "--json", "--over", "0", "--addr", admin, "--http", "none")
		var r doctor.Report
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%v: %s %s", err, out, errOut)
		}
		if i := slices.IndexFunc(r.Findings, func(f doctor.Finding) bool { return f.Alert == "AdshardFilesExposed" }); i >= 0 {
			return &r.Findings[i]
		}
		return nil
	}
	if f := told(); f != nil {
		t.Fatalf("of what a cluster made itself: %+v", f)
	}
	for _, name := range []string{"ads.db", "ads.db-wal", "ads.db-shm", "ads.db-events", "ads.db-events-wal", "ads.db-events-shm", "stores/", "queries"} {
		file := filepath.Join(dir, name)
		opened(t, dir, name)
		f := told()
		if f == nil || f.Node != "up" || !strings.Contains(f.What, file) {
			t.Errorf("%s: the doctor says %+v", name, f)
			continue
		}
		_, command, _ := strings.Cut(f.Do, "`")
		command, _, _ = strings.Cut(command, "`")
		if out, err := exec.CommandContext(t.Context(), "sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v %s", command, err, out)
		}
		if f := told(); f != nil {
			t.Errorf("%s: after %s the doctor says %+v", name, command, f)
		}
	}
	if end(); strings.Contains(log.String(), "chmod") {
		t.Errorf("warns at the start of what was well then: %s", log)
	}
}

// TestCommandsWarnOfFilesThatOthersMayRead: each command that opens a database warns on standard error, and then works as
// usual.
func TestCommandsWarnOfFilesThatOthersMayRead(t *testing.T) {
	db := tutorialDB(t)
	in := file(t, "ads.csv", reportData)
	for _, args := range []string{
		"import --db sqlite:DB IN", "db check --db sqlite:DB", "db words --db sqlite:DB", "backup --db sqlite:DB --events none --out TO.backup", "db migrate --from sqlite:DB --to sqlite:TO.db",
		"barrels build --db sqlite:DB --out TO.built", "quality given --db sqlite:DB",
	} {
		for _, open := range []bool{true, false} {
			mode, trial := os.FileMode(0o600), filepath.Join(t.TempDir(), "to")
			if open {
				mode = 0o644
			}
			if err := os.Chmod(db, mode); err != nil {
				t.Fatal(err)
			}
			words := strings.Fields(strings.NewReplacer("DB", db, "IN", in, "TO", trial).Replace(args))
			status, _, errOut := run(t, "adshard", words...)
			if status != exitDone || strings.Contains(errOut, "chmod -R go= "+db+"\n") != open {
				t.Errorf("%v, open %v: %d %s", words, open, status, errOut)
			}
		}
	}
}

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childEnv has the arguments, one a line, of a program that runs in a process of its own.
const childEnv = "ADSHARD_TEST_ARGUMENTS"

// child runs the program with these arguments.
func child(args string) int {
	return Main(context.Background(), "adshard", strings.Split(args, "\n"), Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

// killedAt runs a program, and kills it once the files of a database have reached a size in bytes; a larger size lets
// it end.
func killedAt(t *testing.T, path string, size int64, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(args, "\n"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it was killed, or ended before
	}()
	for sizeOf(path) < size {
		select {
		case <-ended:
			t.Fatalf("%v ended before the database had %d bytes", args, size)
		case <-time.After(time.Millisecond / 4):
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Fatalf("%v ended before it was killed", args)
	}
}

// sizeOf returns the size of a database with its log plus one, so that 0 means no database.
func sizeOf(path string) (size int64) {
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			size += info.Size() + 1
		}
	}
	return size
}

// catalogue writes a file of many keywords and returns its path.
func catalogue(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC\n")
	for i := range 25_000 {
		fmt.Fprintf(&b, "Acme,C%d,G%d,keyword number %d,Broad,1\n", i/2000, i/50, i)
	}
	return file(t, "catalogue.csv", b.String())
}

// otherCommands returns the commands that open the database, except the one that makes it.
func otherCommands(t *testing.T, db string) map[string][]string {
	dir := t.TempDir()
	out := func(name string) string { return filepath.Join(dir, name) }
	return map[string][]string{
		"adshard up":               {"--db", db, "--http", "127.0.0.1:0", "--data", out("stores")},
		"balancer":                 {"--db", db, "--listen", "127.0.0.1:0"},
		"distributor":              {"--db", db, "--listen", "127.0.0.1:0"},
		"collector":                {"--db", db},
		"adshard backup":           {"--db", db, "--out", out("backup")},
		"adshard barrels build":    {"--db", db, "--out", out("built")},
		"adshard db migrate":       {"--from", db, "--to", "sqlite:" + out("copy.db")},
		"adshard db check":         {"--db", db},
		"adshard db words":         {"--db", db},
		"adshard quality given":    {"--db", db},
		"adshard import --dry-run": {"--db", db, file(t, "other.csv", editor)},
	}
}

// isUnfinished checks that all other commands refuse the database, and say what to do.
func isUnfinished(t *testing.T, db, maker, do string) {
	t.Helper()
	for command, args := range otherCommands(t, db) {
		words := strings.Fields(command)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a server that starts does not end by itself
		var o, e bytes.Buffer
		status := Main(ctx, words[0], append(words[1:], args...), Streams{In: strings.NewReader(""), Out: &o, Err: &e})
		cancel()
		out, errOut := o.String(), e.String()
		if said := out + errOut; status != exitFailed || !strings.Contains(said, "`adshard "+maker+"`") || !strings.Contains(said, do) {
			t.Errorf("%s of what a killed %s left: status %d\n%s%s", command, maker, status, out, errOut)
		}
	}
}

// content returns the output of a check of a whole database.
func content(t *testing.T, db string) string {
	t.Helper()
	status, out, errOut := run(t, "adshard", "db", "check", "--db", db)
	if status != exitDone {
		t.Errorf("db check: %d %s%s", status, out, errOut)
	}
	return out
}

// TestKilledMakers: no other command opens what a killed migration or first import leaves. Another run completes the
// import, while a migration is refused until the file is removed.
func TestKilledMakers(t *testing.T) {
	rows := catalogue(t)
	source := "sqlite:" + filepath.Join(t.TempDir(), "source.db")
	if status, _, errOut := run(t, "adshard", "import", "--db", source, rows); status != exitDone {
		t.Fatal(errOut)
	}
	whole := content(t, source)
	for _, size := range []int64{20_000, 600_000} { // while the tables are created, and among the rows
		path := filepath.Join(t.TempDir(), "imported.db")
		db := "sqlite:" + path
		again := []string{"import", "--db", db, rows}
		killedAt(t, path, size, again...)
		isUnfinished(t, db, "import", "run the import of "+rows+" again")
		if status, _, errOut := run(t, "adshard", "db", "check", "--db", db); status != exitFailed || strings.Contains(errOut, "restore it") {
			t.Errorf("db check: %d %s", status, errOut)
		}
		copied := t.TempDir()
		if err := os.CopyFS(copied, os.DirFS(filepath.Dir(path))); err != nil {
			t.Fatal(err)
		}
		if status, _, errOut := run(t, "adshard", "import", "--db", "sqlite:"+filepath.Join(copied, "imported.db"), file(t, "other.csv", editor)); status != exitDone || !strings.Contains(errOut, "not whole yet") {
			t.Errorf("another import: %d %s", status, errOut)
		}
		if status, _, errOut := run(t, "adshard", again...); status != exitDone {
			t.Errorf("the import is run again: %d %s", status, errOut)
		}
		if got := content(t, db); got != whole {
			t.Errorf("completed: %s, want %s", got, whole)
		}

		path = filepath.Join(t.TempDir(), "migrated.db")
		db = "sqlite:" + path
		again = []string{"db", "migrate", "--from", source, "--to", db}
		killedAt(t, path, size, again...)
		isUnfinished(t, db, "db migrate", "remove the file with its -wal and -shm and migrate again")
		for _, args := range [][]string{again, {"import", "--db", db, rows}} {
			if status, _, errOut := run(t, "adshard", args...); status != exitFailed || !strings.Contains(errOut, "`adshard db migrate`") {
				t.Errorf("%v: %d %s", args, status, errOut)
			}
		}
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if status, _, errOut := run(t, "adshard", again...); status != exitDone {
			t.Errorf("the migration is run again: %d %s", status, errOut)
		}
		if got := content(t, db); got != whole {
			t.Errorf("migrated again: %s, want %s", got, whole)
		}
	}
}

// TestAFailedFirstImport: a first import that fails leaves a complete database if it has imported nothing, and
// otherwise one to be completed.
func TestAFailedFirstImport(t *testing.T) {
	db := "sqlite:" + filepath.Join(t.TempDir(), "ads.db")
	bad := file(t, "bad.csv", "Account,Campaign\n\"unended")
	if status, _, errOut := run(t, "adshard", "import", "--db", db, bad); status != exitFailed {
		t.Fatal(errOut)
	}
	content(t, db)
	db += "2"
	good := file(t, "good.csv", editor)
	if status, _, errOut := run(t, "adshard", "import", "--db", db, good, bad); status != exitFailed {
		t.Fatal(errOut)
	}
	if status, out, _ := run(t, "adshard", "db", "check", "--db", db); status != exitFailed || !strings.Contains(out, "run the import of "+good+", "+bad+" again") {
		t.Errorf("%d %s", status, out)
	}
	if err := os.WriteFile(bad, []byte(editor), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, errOut := run(t, "adshard", "import", "--db", db, good, bad); status != exitDone {
		t.Fatal(errOut)
	}
	content(t, db)
}

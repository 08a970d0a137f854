package cli

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	zs "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"adshard/backend/sqlite"
	"adshard/internal/node/database"
)

// tutorialDB makes a database and closes it.
func tutorialDB(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ads.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// tree lists the files below a directory, with sizes and modification times.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// statements runs SQL on a SQLite database.
func statements(path, sql string) error {
	c, err := zs.OpenConn(path, zs.OpenReadWrite|zs.OpenCreate)
	if err != nil {
		return err
	}
	defer c.Close()
	return sqlitex.ExecuteScript(c, sql, nil)
}

// around is the directory with the files of a configuration.
type around struct{ dir string }

func (a around) at(name string) string { return filepath.Join(a.dir, name) }

func (a around) write(name, text string) error {
	return os.WriteFile(a.at(name), []byte(text), 0o600)
}

// file writes a file below the directory.
func (a around) file(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(a.at(name)), 0o700); err != nil {
		return err
	}
	return a.write(name, text)
}

// brokenStart is a cause that keeps programs from starting: lines of their configuration, with % for the directory, or
// damaged files. It also has the expected text of the error.
type brokenStart struct {
	programs string
	lines    string
	spoil    func(a around) error
	says     string
}

const withDB, withQueries = "up balancer distributor collector", "up master collector"

var brokenStarts = map[string]brokenStart{
	"no database":        {withDB, "", func(a around) error { return os.Remove(a.at("ads.db")) }, "does not exist"},
	"an empty database":  {withDB, "", func(a around) error { return a.write("ads.db", "") }, "empty file"},
	"no database at all": {withDB, "", func(a around) error { return a.write("ads.db", strings.Repeat("nothing ", 4096)) }, "not a database"},
	"a folder":           {withDB, "db: sqlite:%", nil, "folder"},
	"a pipe":             {withDB, "db: sqlite:%/pipe", func(a around) error { return syscall.Mkfifo(a.at("pipe"), 0o600) }, "not a regular file"},
	"another program's":  {withDB, "db: sqlite:%/other", func(a around) error { return statements(a.at("other"), "CREATE TABLE t(x)") }, "another program"},
	"a newer schema": {withDB, "", func(a around) error {
		return statements(a.at("ads.db"), "INSERT INTO goose_db_version(version_id, is_applied) VALUES(99, 1)")
	}, "newer program"},
	"a newer schema, in WAL": {withDB, "", func(a around) error {
		return statements(a.at("ads.db"), "PRAGMA journal_mode=wal; INSERT INTO goose_db_version(version_id, is_applied) VALUES(99, 1)")
	}, "newer program"},
	"a database that is being made": {withDB, "", func(a around) error {
		return statements(a.at("ads.db"), `CREATE TABLE unfinished (maker TEXT NOT NULL, source TEXT NOT NULL, advice TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (maker, source)) STRICT, WITHOUT ROWID;
INSERT INTO unfinished VALUES ('import', 'x', 'run it again', 1)`)
	}, "not whole"},
	"no server": {withDB, "db: postgres://127.0.0.1:1/ads", nil, "127.0.0.1"},

	"no certificate":            {withDB + " master slave", "tls: {mode: required, cert: %/none, key: %/none, ca: %/none}", nil, "none"},
	"a bad certificate":         {withDB + " master slave", "tls: {mode: required, cert: %/x, key: %/x, ca: %/x}", func(a around) error { return a.write("x", "nothing") }, "x"},
	"no tokens":                 {withDB + " master slave", "tokens: %/none", nil, "none"},
	"bad tokens":                {withDB + " master slave", "tokens: %/x", func(a around) error { return a.write("x", "nothing\n") }, "x"},
	"no certificate of queries": {withQueries, "query_tls: {mode: required, cert: %/none, key: %/none}", nil, "none"},

	"no lexicon":               {"up master", "lexicon: %/none", nil, "none"},
	"a bad scorer":             {"up master slave", "scorer: %/x", func(a around) error { return a.write("x", `{"format":2}`) }, "scorer"},
	"a bad lexicon":            {"up master", "lexicon: %/x", func(a around) error { return a.write("x", "nothing") }, "lexicon"},
	"a query log in no folder": {"up master", "query_log: {file: %/none/log}", nil, "none"},
	"a query log that is one":  {"up master", "query_log: {file: %}", nil, "%"},

	"an address of elsewhere":    {withQueries, "http: 192.0.2.1:0\nquery_insecure: true", nil, "not an address of this machine"},
	"a port of elsewhere":        {"slave balancer distributor", "listen: 192.0.2.1:0\ninsecure: true", nil, "not an address of this machine"},
	"an admin port of elsewhere": {withDB + " master slave", "admin: 192.0.2.1:0\ninsecure: true", nil, "not an address of this machine"},

	"a store that is a file":     {"slave", "dir: %/x", func(a around) error { return a.write("x", "") }, "x"},
	"a store below a file":       {"slave", "dir: %/x/y", func(a around) error { return a.write("x", "") }, "x"},
	"stores below a file":        {"up", "data: %/x/y", func(a around) error { return a.write("x", "") }, "x"},
	"stores of more slaves":      {"up", "slaves: 3\ndata: %", func(a around) error { return a.write("cluster.yaml", "id: x\nslaves: 9\ndatabase: y\n") }, "9 slaves"},
	"stores of another database": {"up", "data: %", func(a around) error { return a.write("cluster.yaml", "id: x\nslaves: 3\ndatabase: y\n") }, "stores of database y"},
	"stores of nothing":          {"up", "data: %", func(a around) error { return a.write("cluster.yaml", "{") }, "cluster.yaml"},
	"stores in a log's place":    {"up", "data: %/ads.db-wal", nil, "a part of the database"},
	"stores below a log's place": {"up", "data: %/ads.db-wal/data", nil, "a part of the database"},
	"stores in a backup":         {"up", "data: %", func(a around) error { return a.write("manifest.json", "{}") }, "is a backup"},
	"stores below a backup":      {"up", "data: %/data", func(a around) error { return a.write("manifest.json", "{}") }, "is a backup"},
	"a store in a log's place":   {"slave", "dir: %/ads.db-journal", nil, "a part of the database"},
	"a store in a backup":        {"slave", "dir: %", func(a around) error { return a.write("manifest.json", "{}") }, "is a backup"},
	"a store below a backup":     {"slave", "dir: %/a/b", func(a around) error { return a.write("manifest.json", "{}") }, "is a backup"},
	"files of something else":    {"slave", "dir: %/mine", func(a around) error { return a.file("mine/000007.log", "my log") }, "000007.log"},
	"a store among other files":  {"slave", "dir: %/mine", func(a around) error { return a.file("mine/ca.key", "my key") }, "ca.key"},
	"stores among other files":   {"up", "data: %/mine", func(a around) error { return a.file("mine/slave-0/notes", "my notes") }, "notes"},
	"stores at a file":           {"up", "data: %/x", func(a around) error { return a.write("x", "") }, "name a directory"},
	"no built stores":            {"up", "barrels: %/none", nil, "barrels build"},

	"no folder for events": {"collector", "events: sqlite:%/none/events", nil, "none"},
	"newer events":         {"collector", "events: sqlite:%/e", func(a around) error { return statements(a.at("e"), "CREATE TABLE t(x); PRAGMA user_version = 99") }, "format 99"},
	"newer events beside": {"up", "collector: 127.0.0.1:0", func(a around) error {
		return statements(a.at("ads.db-events"), "CREATE TABLE t(x); PRAGMA user_version = 99")
	}, "format 99"},
	"events that are none":           {"collector", "events: sqlite:%/e", func(a around) error { return a.write("e", strings.Repeat("nothing ", 4096)) }, "e"},
	"a query log that is a database": {"up", "query_log: {file: %/ads.db}", nil, "database"},
	"a query log in a log's place":   {"up", "query_log: {file: %/ads.db-wal}", nil, "database"},
	"files of etcd":                  {"balancer", "control: etcd://127.0.0.1:1/x\ncontrol_tls: {ca: %/none}", nil, "none"},
}

// TestCheckConfigChecksWhatAStartChecks: for each cause that keeps a program from starting, --check-config reports the same
// error with the same exit status, and changes nothing.
func TestCheckConfigChecksWhatAStartChecks(t *testing.T) {
	template := tutorialDB(t)
	for name, c := range brokenStarts {
		for _, program := range strings.Fields(c.programs) {
			t.Run(name+"/"+program, func(t *testing.T) {
				a := around{t.TempDir()}
				if err := os.CopyFS(a.dir, os.DirFS(filepath.Dir(template))); err != nil {
					t.Fatal(err)
				}
				if c.spoil != nil {
					if err := c.spoil(a); err != nil {
						t.Fatal(err)
					}
				}
				path := file(t, "c.yaml", startLines(program, strings.ReplaceAll(c.lines, "%", a.dir), a))
				before := tree(t, a.dir)
				status, said := startOf(t, program, "--config", path, "--check-config")
				if now := tree(t, a.dir); now != before {
					t.Errorf("the check leaves\n%s; there was\n%s", now, before)
				}
				if !namesKey(said, c.lines) {
					t.Errorf("the check does not name the key: %s", said)
				}
				started, saidThen := startOf(t, program, "--config", path)
				if status == exitDone || status != started || !strings.Contains(said, strings.ReplaceAll(c.says, "%", a.dir)) {
					t.Errorf("the check ends with %d: %s\na start with %d: %s", status, said, started, saidThen)
				}
			})
		}
	}
}

// namesKey reports whether a message names the key db or a key of these lines.
func namesKey(said, lines string) bool {
	return slices.ContainsFunc(append(strings.Split(lines, "\n"), "db:"), func(line string) bool {
		key, _, _ := strings.Cut(line, ":")
		return key != "" && (strings.Contains(said, key+": ") || strings.Contains(said, key+"."))
	})
}

// startLines returns a configuration with which a program would start, if the given lines were not in it.
func startLines(program, lines string, a around) string {
	usual := []string{"admin: 127.0.0.1:0"}
	if strings.Contains(withDB, program) {
		usual = append(usual, "db: sqlite:"+a.at("ads.db"))
	}
	if strings.Contains(withQueries, program) {
		usual = append(usual, "http: 127.0.0.1:0")
	}
	switch program {
	case "up":
		usual = append(usual, "data: "+a.at("data"))
	case "slave":
		usual = append(usual, "dir: "+a.at("store"), "listen: 127.0.0.1:0")
	case "balancer", "distributor":
		usual = append(usual, "listen: 127.0.0.1:0")
	}
	usual = slices.DeleteFunc(usual, func(line string) bool { // defaults that lines replace
		key, _, _ := strings.Cut(line, ":")
		return strings.HasPrefix(lines, key+":") || strings.Contains(lines, "\n"+key+":")
	})
	return strings.Join(usual, "\n") + "\n" + lines + "\n"
}

// startOf runs a program that must end by itself.
func startOf(t *testing.T, program string, args ...string) (status int, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errOut bytes.Buffer
	status = Main(ctx, "adshard", append([]string{program}, args...), Streams{In: strings.NewReader(""), Out: &out, Err: &errOut})
	if ctx.Err() != nil {
		t.Errorf("%s %v runs", program, args)
	}
	return status, errOut.String()
}

// TestCheckConfigMissesEvents: a collector does not start if the database's own events are missing, unless it is told to adopt others.
// The check reports the same as the start, and leaves nothing beside closed events.
func TestCheckConfigMissesEvents(t *testing.T) {
	path := tutorialDB(t)
	startedUntil(t, "collector", strings.Fields("--name c --db sqlite:"+path+" --http 127.0.0.1:0 --admin 127.0.0.1:0 --log-level debug"),
		func(string) bool { _, err := os.Stat(path + "-events"); return err == nil && named(t, path) })
	closeEvents(t, "sqlite:"+path+"-events") // the collector may have been interrupted before it could close them
	config := "db: sqlite:" + path + "\nhttp: 127.0.0.1:0\nadmin: 127.0.0.1:0\n"
	check := func(lines string) (int, string) {
		t.Helper()
		before := tree(t, filepath.Dir(path))
		status, said := startOf(t, "collector", "--config", file(t, "c.yaml", config+lines), "--check-config")
		if now := tree(t, filepath.Dir(path)); now != before {
			t.Errorf("the check leaves\n%s; there was\n%s", now, before)
		}
		return status, said
	}
	if status, said := check(""); status != exitDone {
		t.Errorf("events that are there: %d %s", status, said)
	}
	if err := os.Rename(path+"-events", path+"-away"); err != nil {
		t.Fatal(err)
	}
	if status, said := check(""); status != exitFailed || !strings.Contains(said, "--adopt-events") {
		t.Errorf("events that are not there: %d %s", status, said)
	}
	if status, said := check("adopt_events: true\n"); status != exitDone {
		t.Errorf("others are adopted: %d %s", status, said)
	}
}

// closeEvents opens an events database and closes it.
func closeEvents(t *testing.T, path string) {
	t.Helper()
	events, err := database.OpenEvents(t.Context(), path)
	if err == nil {
		err = events.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// named reports whether a database names its own events database.
func named(t *testing.T, path string) bool {
	_, counts, err := database.Probe(t.Context(), "sqlite:"+path)
	return err == nil && counts != ""
}

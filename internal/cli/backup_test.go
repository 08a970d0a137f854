package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBackupAndRestore backs a database up, changes it, and restores it: in its own place, which needs --replace, and
// elsewhere.
func TestBackupAndRestore(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "ads.db"), filepath.Join(dir, "backups", "sqlite", "monday")
	db := "sqlite:" + path
	rows := func(text string) {
		t.Helper()
		if status, _, errOut := run(t, "adshard", "import", "--db", db, file(t, "ads.csv", text)); status != exitDone {
			t.Fatal(errOut)
		}
	}
	keywords := func(db string) string {
		t.Helper()
		_, out, _ := run(t, "adshard", "db", "check", "--db", db)
		return out
	}
	rows(editor)
	before := keywords(db)
	status, out, errOut := run(t, "adshard", "backup", "--db", db, "--out", backup)
	if status != exitDone || !strings.HasPrefix(out, "backed up database ") || !strings.Contains(out, "1 keyword, ") || errOut != "" {
		t.Errorf("backup: %d %q %q", status, out, errOut)
	}
	rows(strings.ReplaceAll(editor, "Acme", "Emca"))
	after := keywords(db)

	for what, c := range map[string]struct {
		args   string
		status int
		says   string
	}{
		"over a backup":         {"backup --db " + db + " --out " + backup, exitFailed, "name a new directory"},
		"of nothing":            {"backup --db " + db + ".none --out " + backup + "2", exitFailed, "does not exist"},
		"of a server":           {"backup --db postgres://h/d --out " + backup + "2", exitUsage, "pg_dump"},
		"without a directory":   {"backup --db " + db, exitUsage, "--out is missing"},
		"over a database":       {"restore --from " + backup + " --db " + db, exitFailed, "--replace"},
		"of no backup":          {"restore --from " + dir + " --db " + db + "2", exitFailed, "is not a backup"},
		"without a backup":      {"restore --db " + db, exitUsage, "--from is missing"},
		"onto a server":         {"restore --from " + backup + " --db postgres://h/d", exitUsage, "pg_dump"},
		"without a database":    {"restore --from " + backup, exitUsage, "--db is missing"},
		"with another argument": {"restore --from " + backup + " --db " + db + " x", exitUsage, "takes no argument"},
	} {
		status, out, errOut := run(t, "adshard", strings.Fields(c.args)...)
		if status != c.status || out != "" || !strings.Contains(errOut, c.says) {
			t.Errorf("%s: %d %q %q", what, status, out, errOut)
		}
	}
	if keywords(db) != after {
		t.Error("the database has changed")
	}

	status, out, errOut = run(t, "adshard", "restore", "--from", backup, "--db", db, "--replace")
	_, kept, _ := strings.Cut(strings.TrimSpace(errOut), "the database that was there is now ")
	if status != exitDone || !strings.HasPrefix(out, "restored database ") || !strings.HasPrefix(kept, path+".replaced-") {
		t.Errorf("restore: %d %q %q", status, out, errOut)
	}
	if keywords(db) != before || keywords("sqlite:"+kept) != after {
		t.Errorf("restored %q, want %q; kept %q, want %q", keywords(db), before, keywords("sqlite:"+kept), after)
	}
	status, out, errOut = run(t, "adshard", "restore", "--from", backup, "--db", db+"2")
	if status != exitDone || errOut != "" || keywords(db+"2") != before {
		t.Errorf("restore elsewhere: %d %q %q", status, out, errOut)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if info, err := os.Stat(filepath.Join(backup, "ads.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup can be read by others: %v (%v)", info, err)
	}
}

// TestBackupOfEvents: a backup includes the events beside the database, as of the same moment, and a restore brings
// them back. Events of another database are not mistaken for them.
func TestBackupOfEvents(t *testing.T) {
	db, _ := reported(t)
	path := strings.TrimPrefix(db, "sqlite:")
	backup := filepath.Join(filepath.Dir(path), "monday")
	report := func(db string) string {
		t.Helper()
		_, out, errOut := run(t, "adshard", "report", "--db", db, "--by", "keyword", "--daily", "--since", "2023-11-14", "--csv")
		return out + errOut
	}
	before := report(db)
	status, out, errOut := run(t, "adshard", "backup", "--db", db, "--out", backup)
	if status != exitDone || !strings.Contains(out, ", events ") || errOut != "" {
		t.Fatalf("backup: %d %q %q", status, out, errOut)
	}
	if status, _, errOut = run(t, "adshard", "events", "erase", "--db", db, "--advertiser", "1"); status != exitDone {
		t.Fatal(errOut)
	}
	after := report(db)
	other := "sqlite:" + filepath.Join(t.TempDir(), "ads.db")
	if status, _, errOut := run(t, "adshard", "import", "--db", other, file(t, "ads.csv", reportData)); status != exitDone {
		t.Fatal(errOut)
	}
	otherBackup := backup + "2"
	for what, c := range map[string]struct{ args, says string }{
		"over events":                {"restore --from " + backup + " --db " + other + "2 --events " + db + "-events", "a part of the database"},
		"over the database":          {"restore --from " + backup + " --db " + db, "--replace"},
		"events of another database": {"backup --db " + other + " --events " + db + "-events --out " + otherBackup, "the events of another database"},
		"no events":                  {"backup --db " + db + " --events sqlite:none --out " + otherBackup, "there are no events at none"},
		"events of a server":         {"backup --db " + db + " --events postgres://h/d --out " + otherBackup, "its own tools"},
	} {
		if status, out, errOut := run(t, "adshard", strings.Fields(c.args)...); status == exitDone || out != "" || !strings.Contains(errOut, c.says) {
			t.Errorf("%s: %d %q %q", what, status, out, errOut)
		}
	}
	if status, out, errOut = run(t, "adshard", "backup", "--db", db, "--events", "none", "--out", otherBackup); status != exitDone || strings.Contains(out, "events ") {
		t.Errorf("without events: %d %q %q", status, out, errOut)
	}
	if status, _, errOut = run(t, "adshard", "restore", "--from", otherBackup, "--db", db, "--events", db+"-events", "--replace"); status == exitDone || !strings.Contains(errOut, "has no events") {
		t.Errorf("of a backup without: %d %q", status, errOut)
	}
	if report(db) != after {
		t.Error("the events have changed")
	}
	status, out, errOut = run(t, "adshard", "restore", "--from", backup, "--db", db, "--replace")
	if status != exitDone || !strings.HasSuffix(out, ", events\n") || !strings.Contains(errOut, "the events that were there are now "+path+"-events.replaced-") {
		t.Errorf("restore: %d %q %q", status, out, errOut)
	}
	if got := report(db); got != before {
		t.Errorf("restored:\n%s\nbefore:\n%s", got, before)
	}
	if err := flipByte(filepath.Join(backup, "events.db")); err != nil {
		t.Fatal(err)
	}
	if status, _, errOut = run(t, "adshard", "restore", "--from", backup, "--db", other+"3"); status == exitDone || !strings.Contains(errOut, "events.db is damaged") {
		t.Errorf("a damaged backup: %d %q", status, errOut)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if info, err := os.Stat(filepath.Join(backup, "events.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the events can be read by others: %v (%v)", info, err)
	}
}

// flipByte changes one byte in the middle.
func flipByte(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text[len(text)/2] ^= 1
	return os.WriteFile(path, text, 0o600)
}

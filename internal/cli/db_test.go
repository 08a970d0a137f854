package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDBCheck finds a changed byte in an ad, which SQLite does not notice.
func TestDBCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ads.db")
	db := "sqlite:" + path
	if status, _, errOut := run(t, "adshard", "import", "--db", db, file(t, "ads.csv", editor)); status != exitDone {
		t.Fatal(errOut)
	}
	status, out, errOut := run(t, "adshard", "db", "check", "--db", db)
	if status != exitDone || !strings.Contains(out, "1 keyword, ") || !strings.HasSuffix(out, "no damage\n") || errOut != "" {
		t.Errorf("%d %q %q", status, out, errOut)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content = bytes.ReplaceAll(content, []byte("https://example.com/"), []byte("https://exbmple.com/"))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, errOut = run(t, "adshard", "db", "check", "--db", db)
	if status != exitFailed || !strings.HasPrefix(out, "ad group 1: its rows differ from what was written\n") ||
		!strings.Contains(errOut, "restore it from a backup") {
		t.Errorf("damaged: %d %q %q", status, out, errOut)
	}
	status, out, _ = run(t, "adshard", "db", "check", "--db", db, "--json")
	var report struct {
		Counts struct{ Keywords int }
		Damage []struct {
			Kind, Problem string
			ID            int
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != exitFailed || len(report.Damage) != 1 ||
		report.Damage[0].Kind != "ad group" || report.Damage[0].ID != 1 || report.Counts.Keywords != 1 {
		t.Errorf("%d %v %s", status, err, out)
	}
	for _, args := range [][]string{{"db", "check"}, {"db"}, {"db", "repair"}, {"db", "check", "--db", db, "x"}} {
		if status, _, _ := run(t, "adshard", args...); status != exitUsage {
			t.Errorf("%v: %d", args, status)
		}
	}
	if status, _, errOut := run(t, "adshard", "db", "check", "--db", db+".none"); status != exitFailed || !strings.Contains(errOut, "does not exist") {
		t.Errorf("%d %q", status, errOut)
	}
}

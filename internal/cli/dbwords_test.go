package cli

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"adshard/search/words"
)

// TestDBWords: the command prints the version of words.
func TestDBWords(t *testing.T) {
	db := "sqlite:" + filepath.Join(t.TempDir(), "ads.db")
	if status, _, errOut := run(t, "adshard", "import", "--db", db, file(t, "ads.csv", editor)); status != exitDone {
		t.Fatal(errOut)
	}
	status, out, errOut := run(t, "adshard", "db", "words", "--db", db)
	if status != exitDone || out != "keys of words "+words.Version()+"; removed: 0\n" || errOut != "" {
		t.Errorf("%d %q %q", status, out, errOut)
	}
	status, out, _ = run(t, "adshard", "db", "words", "--db", db, "--json")
	var got struct {
		Version string
		Removed []any
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || status != exitDone || got.Version != words.Version() || got.Removed == nil {
		t.Errorf("%d %v %s", status, err, out)
	}
}

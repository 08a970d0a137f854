package lexicon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/fault"
)

// TestOpenSaysHowToMakeTheFile: the error for a file that does not exist or cannot be used contains
// the command that makes it.
func TestOpenSaysHowToMakeTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lexicon")
	for _, tt := range []struct {
		text string // "" if there is no file
		kind fault.Kind
	}{{"", fault.NotFound}, {"adshard lexicon 2\n", fault.Version}, {"no lexicon\n", fault.Corrupt}} {
		if tt.text != "" {
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Open(path)
		if !fault.Is(err, tt.kind) || !strings.Contains(err.Error(), "adshard lexicon build --out "+path) {
			t.Errorf("%q: %v", tt.text, err)
		}
	}
}

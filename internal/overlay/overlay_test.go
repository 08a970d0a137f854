package overlay

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// TestMarshal: the list has what GOFLAGS replaces, unless the caller replaces it.
func TestMarshal(t *testing.T) {
	name := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(name, []byte(`{"Replace": {"/go.mod": "/other.mod", "/a.go": "/theirs.go"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ours := map[string]string{"/a.go": "/ours.go", "/b.go": ""}
	for flags, want := range map[string]map[string]string{
		"-buildvcs=false":                        ours,
		"-buildvcs=false -overlay=" + name:       {"/go.mod": "/other.mod", "/a.go": "/ours.go", "/b.go": ""},
		"-overlay=" + name + " -tags=invariants": {"/go.mod": "/other.mod", "/a.go": "/ours.go", "/b.go": ""},
	} {
		t.Setenv("GOFLAGS", flags)
		text, err := Marshal(ours)
		if err != nil {
			t.Fatal(err)
		}
		var got list
		if err := json.Unmarshal(text, &got); err != nil || !maps.Equal(got.Replace, want) {
			t.Errorf("GOFLAGS=%s: %s, want %v, %v", flags, text, want, err)
		}
	}
	t.Setenv("GOFLAGS", "-overlay="+name+".none")
	if text, err := Marshal(ours); err == nil {
		t.Errorf("without the list of GOFLAGS: %s", text)
	}
}

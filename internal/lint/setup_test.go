package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOldGo: before anything is installed, setup says that Go is too old, and which command gets a newer one.
func TestOldGo(t *testing.T) {
	const script = `#!/bin/sh
case "$*" in
"env GOVERSION") echo go1.24.4 ;;
"env GOTOOLCHAIN") echo $FETCHES ;;
version) echo go version go1.24.4 linux/amd64 ;;
esac
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for fetches, want := range map[string]string{"local": "go env -w GOTOOLCHAIN=auto", "auto": "curl -fsSL https://go.dev/dl/go1."} {
		cmd := exec.Command("../../deploy/setup.sh", "build")
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "FETCHES="+fetches)
		out, err := cmd.CombinedOutput()
		if text := string(out); err == nil || !strings.Contains(text, "this is go version go1.24.4 linux/amd64") || !strings.Contains(text, want) || strings.Contains(text, "installing") {
			t.Errorf("with GOTOOLCHAIN=%s: %v, %q, want %q", fetches, err, text, want)
		}
	}
}

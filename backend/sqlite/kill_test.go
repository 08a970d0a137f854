package sqlite_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"adshard/backend/backendtest"
)

func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ads.db")
	backendtest.Kill(t, place(path), func() *exec.Cmd {
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), childEnv+"="+path)
		c.Stderr = os.Stderr
		return c
	})
}

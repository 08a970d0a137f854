package up

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/internal/node/distributor"
	"adshard/internal/node/slave"
)

// scripted returns children whose program is a shell script that goes on until it is ended; script has a %s for the
// directory that is returned.
func scripted(t *testing.T, script string) (c *children, dir string) {
	t.Helper()
	dir = t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, fmt.Appendf(nil, "#!/bin/sh\n"+script+"exec sleep 600\n", dir), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := newChildren(dir, new(bytes.Buffer), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop)
	c.program = program
	return c, dir
}

// TestChildrenHaveNoVariablesOfFlags: ADSHARD_NAME would give all slaves one name.
func TestChildrenHaveNoVariablesOfFlags(t *testing.T) {
	t.Setenv("ADSHARD_NAME", "slave-7")
	t.Setenv("KEPT", "kept")
	c, dir := scripted(t, "env >%s/$1\necho $1 0 listening 127.0.0.1:7777\n")
	s, d := slave.DefaultConfig(), distributor.DefaultConfig()
	with := slavePart(0, &s)
	with.env = append(os.Environ(), "OWN=own")
	for p, want := range map[*part]string{with: "OWN=own", distributorPart(0, &d): "KEPT=kept"} {
		child, err := c.listening(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		defer child.stop(c.log)
		env, err := os.ReadFile(filepath.Join(dir, p.command))
		if err != nil || !strings.Contains(string(env), want+"\n") || strings.Contains(string(env), "ADSHARD_") {
			t.Errorf("%s: %v: %s", p.command, err, env)
		}
	}
}

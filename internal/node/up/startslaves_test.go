package up

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adshard/internal/node/home"
)

// TestASlaveThatEndsAtTheStart: the others go on, it is started again until it listens; with none there is no cluster.
func TestASlaveThatEndsAtTheStart(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for name, c := range map[string]struct {
		broken  []string
		listens int
	}{"none is broken": {nil, 2}, "one is broken": {[]string{"slave-1"}, 1}, "both are broken": {[]string{"slave-0", "slave-1"}, 0}} {
		dir := t.TempDir()
		program := filepath.Join(dir, "program")
		script := fmt.Sprintf("#!/bin/sh\nname=$(sed -n 's/^name: //p' \"$3\")\n[ -e %s/$name.broken ] && exit 4\n"+
			"echo slave ${name#slave-} listening 127.0.0.1:7777\nexec sleep 600\n", dir)
		if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		mark := func(name string) string { return filepath.Join(dir, name+".broken") }
		for _, slave := range c.broken {
			if err := os.WriteFile(mark(slave), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out, log text
		children, err := newChildren(dir, &out, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		children.program, children.restart, children.pauses.longest = program, true, children.pauses.first
		ctx, cancel := context.WithCancel(t.Context())
		cfg := DefaultConfig()
		cfg.Slaves = 2
		addresses, err := children.startSlaves(ctx, &cfg, new(home.Dir), "127.0.0.1:1")
		if len(addresses) != c.listens || (err == nil) != (c.listens > 0) {
			t.Errorf("%s: %v, %v", name, addresses, err)
		}
		for _, slave := range c.broken {
			_ = os.Remove(mark(slave))
		}
		for end := time.Now().Add(patience); c.listens > 0 && out.count(" listening 127.0.0.1:7777") < 2; time.Sleep(2 * time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("%s: it is not started again; the log has %s", name, log.b.String())
				break
			}
		}
		cancel()
		children.stop()
	}
}

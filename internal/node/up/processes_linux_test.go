package up

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"adshard/internal/node/distributor"
	"adshard/internal/node/slave"
)

// TestWhatPreparesDataIsNice: a process with a balancer or distributor, and no other.
func TestWhatPreparesDataIsNice(t *testing.T) {
	c, dir := scripted(t, "cut -d' ' -f19 /proc/self/stat >%s/$1\necho distributor 0 listening 127.0.0.1:7777\necho slave 0 listening 127.0.0.1:7777\n")
	s, d := slave.DefaultConfig(), distributor.DefaultConfig()
	for _, p := range []*part{slavePart(0, &s), distributorPart(0, &d)} {
		child, err := c.listening(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		defer child.stop(c.log)
	}
	nice := func(command string) (n int) {
		text, err := os.ReadFile(filepath.Join(dir, command))
		if err != nil {
			t.Fatal(err)
		}
		if n, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if own, bulk := nice("slave"), nice("distributor"); bulk != min(own+10, 19) {
		t.Errorf("a slave has the niceness %d, a distributor %d", own, bulk)
	}
}

// TestChildrenHaveTimerSlack: children inherit that of the thread that starts them.
func TestChildrenHaveTimerSlack(t *testing.T) {
	if _, err := os.Stat("/proc/self/timerslack_ns"); err != nil {
		t.Skip("the kernel does not show timer slack: ", err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	script := fmt.Sprintf("#!/bin/sh\ncat /proc/self/timerslack_ns >%s/slack\necho slave 0 listening 127.0.0.1:7777\nexec sleep 600\n", dir)
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c, err := newChildren(dir, &out, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.program = program
	cfg := slave.DefaultConfig()
	cfg.Listen = loopback
	part := slavePart(0, &cfg)
	child, err := c.listening(t.Context(), part)
	if err != nil {
		t.Fatal(err)
	}
	defer c.stop()
	defer child.stop(c.log)
	got, err := os.ReadFile(filepath.Join(dir, "slack"))
	if want := fmt.Sprint(timerSlack.Nanoseconds()); err != nil || strings.TrimSpace(string(got)) != want {
		t.Errorf("a child has %q, %v; want %s", got, err, want)
	}
}

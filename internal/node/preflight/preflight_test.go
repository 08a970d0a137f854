package preflight

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/ulimit"
)

// TestSilentServer: the check of a database whose server accepts connections and says nothing ends, and names the key, the value
// without its parameters, and what is wrong.
func TestSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	for name, check := range map[string]func(*Check, string){
		"db":     func(k *Check, url string) { k.Database(url) },
		"events": func(k *Check, url string) { k.Events("events", url, "") },
	} {
		k := Begin(t.Context(), ulimit.Need{}, slog.New(slog.DiscardHandler))
		k.within = 50 * time.Millisecond
		at := "postgres://ads@" + l.Addr().String() + "/ads"
		check(k, at+"?sslmode=disable&connect_timeout=3600")
		err := k.Err()
		if want := "config: " + name + ": " + at + ": "; !fault.Is(err, fault.Deadline) || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "has not answered within 50ms") {
			t.Errorf("%s: %v (%v)", name, err, fault.KindOf(err))
		}
	}
}

// TestOf: a fault keeps its kind, and what is none is left out.
func TestOf(t *testing.T) {
	k := &Check{}
	k.Of("dir", "/x", nil)
	if k.Err() != nil {
		t.Error(k.Err())
	}
	full := fault.New(fault.NoSpace, "open", errors.New("the disk is full"))
	k.Of("dir", "/x", full)
	if err := k.Err(); !errors.Is(err, full) || !fault.Is(err, fault.NoSpace) || err.Error() != "config: dir: /x: open: the disk is full" {
		t.Error(err)
	}
}

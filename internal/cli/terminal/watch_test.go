package terminal

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/cli/cmdline"
)

// TestWatch: if the output is not a terminal, watch prints one line each time until it ends. If the port is away, it
// says so and keeps asking.
func TestWatch(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out bytes.Buffer
	n := 0
	frame := func(context.Context, cmdline.Streams) error { t.Error("drawn"); return nil }
	line := func(_ context.Context, s cmdline.Streams) error {
		switch n++; n {
		case 2:
			fmt.Fprint(s.Out, "half a li")
			return fault.Newf(fault.Unavailable, "", "cannot reach it")
		case 4:
			cancel()
		}
		fmt.Fprintf(s.Out, "line %d\n", n)
		return nil
	}
	if err := Watch(ctx, cmdline.Streams{Out: &out}, time.Millisecond, frame, line); err != nil {
		t.Error(err)
	}
	if out.String() != "line 1\ncannot reach it\nline 3\n" {
		t.Errorf("%q", out.String())
	}
	refuse := func(context.Context, cmdline.Streams) error {
		return fault.Newf(fault.Unavailable, "", "cannot reach it")
	}
	if err := Watch(context.Background(), cmdline.Streams{Out: &out}, time.Millisecond, frame, refuse); !fault.Is(err, fault.Unavailable) {
		t.Errorf("the first look: %v", err)
	}
}

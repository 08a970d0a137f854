package terminal

import (
	"context"
	"time"

	"adshard/fault"
	"adshard/internal/cli/cmdline"
	"adshard/internal/progress"
	"adshard/internal/wait"
)

// WatchEvery is the refresh interval of --watch.
const WatchEvery = time.Second

// Watch shows the output again and again until ctx is done. On a terminal, whole draws each frame over the previous
// one; elsewhere line writes one line each time. If the server is unreachable, the error is shown and Watch
// continues.
func Watch(ctx context.Context, s cmdline.Streams, every time.Duration, whole, line func(ctx context.Context, s cmdline.Streams) error) error {
	drawn := progress.IsTerminal(s.Out)
	if !drawn {
		whole = line
	}
	for n := 0; ; n++ {
		b := Frame{Columns: columnsOf(s.Out)}
		err := whole(ctx, cmdline.Streams{In: s.In, Out: &b, Err: s.Err})
		switch {
		case ctx.Err() != nil:
			return nil // interrupted
		case err != nil && (n == 0 || !fault.Is(err, fault.Unavailable)):
			return err
		case err != nil:
			b.Reset()
			b.WriteString(err.Error() + "\n")
		}
		if drawn {
			_, err = s.Out.Write(append([]byte("\x1b[H\x1b[J"), b.Bytes()...))
		} else {
			_, err = s.Out.Write(b.Bytes())
		}
		if err != nil {
			return err
		}
		if wait.Sleep(ctx, every) != nil {
			return nil
		}
	}
}

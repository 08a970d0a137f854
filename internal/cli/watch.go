package cli

import (
	"bytes"
	"context"
	"time"

	"adshard/fault"
	"adshard/internal/progress"
	"adshard/internal/wait"
)

// watchEvery is the time between two looks.
const watchEvery = time.Second

// watch looks again and again until ctx is over. On a terminal frame is drawn
// over the last one; elsewhere line writes one line a look. A server that is
// away meanwhile is told and asked on.
func watch(ctx context.Context, s Streams, every time.Duration, frame, line func(ctx context.Context, s Streams) error) error {
	drawn := progress.IsTerminal(s.Out)
	if !drawn {
		frame = line
	}
	for n := 0; ; n++ {
		var b bytes.Buffer
		err := frame(ctx, Streams{s.In, &b, s.Err})
		switch {
		case ctx.Err() != nil:
			return nil // told to end
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

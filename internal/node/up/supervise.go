package up

import (
	"context"
	"strings"
	"time"

	"adshard/internal/wait"
)

// pauses are the lengths of pauses before restarts. The first pause is the shortest, and each end doubles
// it up to the longest. Once a child has listened for `settled`, the next pause is the first one again. The
// time before it listens is not included: otherwise a part that takes minutes to load, and then dies, would
// be loaded over and over.
type pauses struct {
	first, longest, settled time.Duration
}

var defaultPauses = pauses{first: 100 * time.Millisecond, longest: 30 * time.Second, settled: time.Minute}

// after returns the pause that follows a pause of the length `last`, given that the child had listened for
// `well` before it ended. If last is 0, or well is at least `settled`, that is the first pause.
func (p pauses) after(last, well time.Duration) time.Duration {
	if last == 0 || well >= p.settled {
		return p.first
	}
	return min(2*last, p.longest)
}

// supervise starts the part again whenever its child ends, until ctx is done. It returns at once; the
// restarts are made in the background.
func (c *children) supervise(ctx context.Context, p *part, n *child) {
	c.watched.Go(func() {
		var pause time.Duration
		for c.follow(ctx, n) {
			ran := time.Since(n.began)
			c.log.Warn("a process ended", "name", p.name, "pid", n.pid(), "end", n.cmd.ProcessState.String(), "ran", ran)
			if !c.restart {
				return
			}
			pause = c.pauses.after(pause, time.Since(n.listened))
			if n, pause = c.startAgain(ctx, p, pause); n == nil {
				return
			}
		}
	})
}

// follow prints when the part is ready, and waits until the child ends or ctx is done. It reports whether
// the child ended first.
func (c *children) follow(ctx context.Context, n *child) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case line, ok := <-n.lines:
			if !ok {
				<-n.ended
				return ctx.Err() == nil
			}
			if strings.HasPrefix(line, "ready ") {
				c.print(line + "\n")
			}
		}
	}
}

// startAgain starts the part, with growing pauses, until it listens. It returns the child and the last
// pause, or nil if ctx is done first.
func (c *children) startAgain(ctx context.Context, p *part, pause time.Duration) (*child, time.Duration) {
	down := time.Now()
	for tries := 1; ; tries++ {
		c.log.Info("a process is to be restarted", "name", p.name, "in", pause, "try", tries)
		if wait.Sleep(ctx, pause) != nil {
			return nil, 0
		}
		n, err := c.begin(p)
		if err == nil {
			late := time.AfterFunc(startTime, func() {
				c.log.Warn("a restarted process does not listen yet", "name", p.name, "pid", n.pid(), "since", startTime)
			})
			var text string
			text, err = n.listens(ctx, p)
			late.Stop()
			if err == nil {
				c.print(text)
				c.log.Info("a process is back", "name", p.name, "pid", n.pid(), "down", time.Since(down), "tries", tries)
				return n, pause
			}
		}
		if ctx.Err() != nil {
			return nil, 0
		}
		c.log.Error("a process cannot be restarted; it is tried again", "name", p.name, "err", err)
		pause = c.pauses.after(pause, 0)
	}
}

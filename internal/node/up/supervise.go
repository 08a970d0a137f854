package up

import (
	"context"
	"strings"
	"time"

	"adshard/internal/wait"
)

// pauses are the pauses before restarts: the first one, and twice as long after each
// end until they are the longest; the first one again once a child has listened for settled. The time until
// it listens does not count: a part that takes minutes to load, and dies then, would be loaded without end.
type pauses struct {
	first, longest, settled time.Duration
}

var defaultPauses = pauses{first: 100 * time.Millisecond, longest: 30 * time.Second, settled: time.Minute}

// after returns the pause that follows a pause of last, or 0 if the child has listened for that
// long.
func (p pauses) after(last, well time.Duration) time.Duration {
	if last == 0 || well >= p.settled {
		return p.first
	}
	return min(2*last, p.longest)
}

// supervise starts the part again whenever its child ends, until ctx is done. It
// returns at once.
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

// follow prints when the part is ready, and reports whether the child ended before ctx.
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

// startAgain starts the part until it listens, with growing pauses. It returns the last
// one, and no child when ctx is done first.
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

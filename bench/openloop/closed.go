package openloop

import (
	"context"
	"iter"
	"sync"
	"time"

	"adshard/internal/wait"
)

// closed keeps Config.Closed requests in progress: each connection sends the next one
// when it has its answer. It shows how much a server can do, but nothing about
// requests that would have waited while it stalls.
func closed(ctx context.Context, c *Config) (*Outcome, error) {
	schedule := c.Schedule
	if schedule == nil {
		schedule = c.turns
	}
	next, stop := iter.Pull2(schedule)
	defer stop()
	start, line := time.Now(), new(timeline)
	from, until := start.Add(c.Warmup), start.Add(c.Warmup+c.Duration)
	var turn sync.Mutex
	counted := 0
	take := func(at time.Time) (target int, ok bool) {
		turn.Lock()
		defer turn.Unlock()
		if !at.Before(from) {
			if c.Requests > 0 && counted >= c.Requests {
				return 0, false
			}
			counted++
		}
		_, target, ok = next()
		return target, ok
	}
	outcomes := make([]*Outcome, c.Closed)
	var done sync.WaitGroup
	for i := range outcomes {
		outcomes[i] = newOutcome()
		done.Go(func() { askOn(ctx, c, take, line, from, until, outcomes[i]) })
	}
	_ = wait.Sleep(ctx, time.Until(from))
	cpu := c.processorTime()
	done.Wait()
	all := newOutcome()
	for _, o := range outcomes {
		all.merge(o)
	}
	all.Took, all.Intervals = time.Since(from), line.intervals()
	all.used(cpu, c.processorTime())
	return all, ctx.Err()
}

// askOn sends requests over one connection, one after another.
func askOn(ctx context.Context, c *Config, take func(time.Time) (int, bool), line *timeline, from, until time.Time, o *Outcome) {
	conn := newConnection(c)
	defer conn.close()
	for ctx.Err() == nil {
		sent := time.Now()
		if sent.After(until) {
			return
		}
		target, ok := take(sent)
		if !ok {
			return
		}
		status, body, err := conn.ask(ctx, c.Targets[target])
		if !sent.Before(from) {
			o.count(c, line, target, from, status, body, err, sent, sent)
		}
	}
}

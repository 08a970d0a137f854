package openloop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"adshard/bench/measure"
)

// Run puts the load on the server. It returns an error only for the configuration or
// if ctx is done; the server's errors are in the outcome.
func Run(ctx context.Context, c Config) (*Outcome, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	run := open
	switch {
	case c.Closed > 0:
		run = closed
	case c.Rate == 0:
		run = alone
	}
	o, err := run(ctx, &c)
	if o != nil {
		o.Held = c.Reference != nil
	}
	return o, err
}

// failure returns the error of a failed request.
func failure(status int, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("status %d", status)
}

// alone sends one request at a time.
func alone(ctx context.Context, c *Config) (*Outcome, error) {
	conn := newConnection(c)
	defer conn.close()
	start := time.Now()
	from, until := start.Add(c.Warmup), start.Add(c.Warmup+c.Duration)
	o := newOutcome()
	cpu := c.processorTime()
	schedule := c.Schedule
	if schedule == nil {
		schedule = c.turns
	}
	line := new(timeline)
	for _, target := range schedule {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sent := time.Now()
		if sent.After(until) || c.Requests > 0 && o.Sent() >= c.Requests {
			break
		}
		status, body, err := conn.ask(ctx, c.Targets[target])
		if sent.Before(from) {
			cpu = c.processorTime()
			continue
		}
		o.count(c, line, target, from, status, body, err, sent, sent)
	}
	o.Intervals = line.intervals()
	o.Took = time.Since(from)
	o.used(cpu, c.processorTime())
	return o, nil
}

// due is a request to be sent, with the time at which it is due.
type due struct {
	target int
	at     time.Time
}

// open sends requests at the rate: one goroutine waits for the time of each request
// and passes it to any free connection.
func open(ctx context.Context, c *Config) (*Outcome, error) {
	// There is room for all requests that will be due, including random variation: the
	// pacer never waits for a connection.
	queue := make(chan due, int(c.Rate*(c.Warmup+c.Duration).Seconds()*2)+1000)
	probe, err := startProbe()
	if err != nil {
		return nil, err
	}
	start, line := time.Now(), new(timeline)
	from, until := start.Add(c.Warmup), start.Add(c.Warmup+c.Duration)
	outcomes := make([]*Outcome, c.Connections)
	var done sync.WaitGroup
	for i := range outcomes {
		outcomes[i] = newOutcome()
		done.Go(func() { work(ctx, c, queue, line, from, until.Add(c.Timeout), outcomes[i]) })
	}
	cpu := pace(ctx, c, queue, start)
	close(queue)
	done.Wait()
	all := newOutcome()
	all.Late = probe.stop()
	for _, o := range outcomes {
		all.merge(o)
		all.Unsent += o.Unsent
	}
	all.Took, all.Intervals = time.Since(from), line.intervals()
	all.used(cpu, c.processorTime())
	return all, ctx.Err()
}

// processor is the processor time used so far by this process and by each of
// Config.Processes.
type processor struct {
	own     time.Duration
	servers []time.Duration
}

func (c *Config) processorTime() processor {
	p := processor{own: measure.CPUTime()}
	for _, pid := range c.Processes {
		t, _ := measure.CPUTimeOf(pid) // 0: it has ended
		p.servers = append(p.servers, t)
	}
	return p
}

func (o *Outcome) used(before, after processor) {
	o.CPU, o.ServerCPU, o.ServerCPUs = after.own-before.own, 0, make([]time.Duration, len(after.servers))
	for i, t := range after.servers {
		used := max(0, t-before.servers[i])
		o.ServerCPU += used
		o.ServerCPUs[i] = used
	}
}

// pace puts requests into the queue when they are due. It returns the processor time
// used by the end of the warm-up.
func pace(ctx context.Context, c *Config, queue chan<- due, start time.Time) (warm processor) {
	from, end := start.Add(c.Warmup), start.Add(c.Warmup+c.Duration)
	counted, warming := 0, true
	schedule := c.Schedule
	if schedule == nil {
		schedule = c.gaps
	}
	for at, target := range schedule {
		next := start.Add(at)
		if ctx.Err() != nil || next.After(end) || c.Requests > 0 && counted >= c.Requests {
			break
		}
		sleepUntil(next)
		if !next.Before(from) {
			counted++
			if warming {
				warm, warming = c.processorTime(), false
			}
		}
		select {
		case queue <- due{target, next}:
		case <-ctx.Done():
		}
	}
	return warm
}

// gaps yields the targets in turn, endlessly, at times with random gaps.
func (c *Config) gaps(yield func(time.Duration, int) bool) {
	gaps := rand.New(rand.NewPCG(c.Seed, 0))
	at := time.Duration(0)
	for i := 0; ; i++ {
		at += time.Duration(gaps.ExpFloat64() / c.Rate * float64(time.Second))
		if !yield(at, i%len(c.Targets)) {
			return
		}
	}
}

// sleepUntil waits in the kernel: the runtime's own timers are a millisecond late if
// nothing else runs.
func sleepUntil(t time.Time) {
	for {
		d := time.Until(t)
		if d <= 0 {
			return
		}
		// Sleep in short steps, so that the end of the run is noticed.
		ts := syscall.NsecToTimespec(int64(min(d, 50*time.Millisecond)))
		_ = syscall.Nanosleep(&ts, nil)
	}
}

// work sends due requests over one connection until the queue is closed or the time
// until is reached.
func work(ctx context.Context, c *Config, queue <-chan due, line *timeline, from, until time.Time, o *Outcome) {
	conn := newConnection(c)
	defer conn.close()
	for d := range queue {
		counts := !d.at.Before(from)
		sent := time.Now()
		if ctx.Err() != nil || sent.After(until) {
			if counts {
				o.Unsent++
				line.add(d.at.Sub(from), -1, false, false, false, Wrong{})
			}
			continue
		}
		status, body, err := conn.ask(ctx, c.Targets[d.target])
		if counts {
			o.count(c, line, d.target, from, status, body, err, d.at, sent)
		}
	}
}

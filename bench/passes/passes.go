// Package passes repeats the second experiment of the master thesis (Balancing Keyword-Based
// Data and Queries, chapter 8) on a cluster of real processes. A workload of 100 queries is
// asked again and again, one query at a time, while the balancer works. In some of these
// passes every query's time is recorded: at the master, as a user sees it, and at each slave,
// as the slave counts it.
//
// Goals: the thesis' figures 8.1 to 8.18 beside its text. Non-goals: load that queues
// (bench/openloop).
package passes

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"adshard/bench/cluster"
	"adshard/fault"
	"adshard/internal/wait"
)

// Each is the number of queries in a pass.
const Each = 100

// Plan says which queries a cluster is asked.
type Plan struct {
	// Targets are the paths and parameters of a pass' queries, in their order.
	Targets []string
	// Recorded lists the passes whose times are kept, rising from 1. The last of them ends the
	// run.
	Recorded []int
	// Before is asked first, in BeforePasses passes that are not recorded: the log that the
	// strategy has followed when another log, Targets, takes its place.
	Before       []string
	BeforePasses int
	// Pause is the time without queries after each pass, so that iterations of the strategy fall
	// between passes.
	Pause time.Duration
	// Progress, if not nil, is called with the number of the pass that begins.
	Progress func(pass int)
}

// Pass is one recorded pass. Times are in milliseconds, in the order of the queries.
type Pass struct {
	Number int         `json:"pass"`
	Master []float64   `json:"master"`
	Slaves [][]float64 `json:"slaves"` // by slave
	// Moved is the number of groups that had moved when the pass began, Slices the number of
	// slices then, MaxOverMean the max/mean of the load that the balancer reported, and Why the
	// first line of what the strategy said about its last iteration.
	Moved       uint64  `json:"moved"`
	Slices      int     `json:"slices"`
	MaxOverMean float64 `json:"max_over_mean"`
	Why         string  `json:"why,omitempty"`
	Incomplete  int     `json:"incomplete"`
}

// Run asks a cluster whose balancer is paused; it resumes the balancer first.
func Run(ctx context.Context, c *cluster.Cluster, plan Plan) (list []Pass, err error) {
	if err := c.Resume(ctx); err != nil {
		return nil, err
	}
	for range plan.BeforePasses {
		if err := askAll(ctx, c, plan.Before); err != nil {
			return nil, err
		}
		if err := wait.Sleep(ctx, plan.Pause); err != nil {
			return nil, err
		}
	}
	for n, next := 1, 0; next < len(plan.Recorded); n++ {
		if plan.Progress != nil {
			plan.Progress(n)
		}
		if n != plan.Recorded[next] {
			if err := askAll(ctx, c, plan.Targets); err != nil {
				return nil, err
			}
		} else {
			p, err := record(ctx, c, plan.Targets)
			if err != nil {
				return nil, err
			}
			p.Number = n
			list = append(list, p)
			next++
		}
		if err := wait.Sleep(ctx, plan.Pause); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// askAll asks the queries of a pass that is not recorded.
func askAll(ctx context.Context, c *cluster.Cluster, targets []string) error {
	for _, target := range targets {
		if _, _, err := ask(ctx, c.URL+target); err != nil {
			return err
		}
	}
	return nil
}

// record asks the queries of a pass and reads the slaves' own times after each query.
func record(ctx context.Context, c *cluster.Cluster, targets []string) (p Pass, err error) {
	s, err := c.Status(ctx)
	if err != nil {
		return p, err
	}
	p.Moved, p.Slices, p.MaxOverMean = s.Moved.Items, s.Slices, s.MaxOverMean
	if s.Last != nil && len(s.Last.Reasons) > 0 {
		p.Why = s.Last.Reasons[0]
	}
	p.Slaves = make([][]float64, len(c.Slaves))
	before, err := searched(ctx, c)
	if err != nil {
		return p, err
	}
	for _, target := range targets {
		took, whole, err := ask(ctx, c.URL+target)
		if err != nil {
			return p, err
		}
		if !whole {
			p.Incomplete++
		}
		p.Master = append(p.Master, 1e3*took.Seconds())
		after, err := searched(ctx, c)
		if err != nil {
			return p, err
		}
		for i := range after {
			p.Slaves[i] = append(p.Slaves[i], 1e3*(after[i]-before[i]))
		}
		before = after
	}
	return p, nil
}

// searched returns the time that each slave has spent on searches, in seconds.
func searched(ctx context.Context, c *cluster.Cluster) ([]float64, error) {
	out := make([]float64, len(c.Slaves))
	for i := range out {
		sum, err := c.SearchSeconds(ctx, i)
		if err != nil {
			return nil, err
		}
		out[i] = sum
	}
	return out, nil
}

// ask asks one query and reports whether its answer is complete.
func ask(ctx context.Context, url string) (took time.Duration, whole bool, err error) {
	const op = "passes: ask"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, false, fault.New(fault.Invalid, op, err)
	}
	began := time.Now()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, false, fault.New(fault.Unavailable, op, err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	took = time.Since(began)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.300s", answer.Status, raw)
	}
	if err != nil {
		return 0, false, fault.New(fault.Unavailable, op, err)
	}
	return took, complete(raw), nil
}

package hotwriters

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"adshard/bench/cluster"
	"adshard/bench/measure"
	"adshard/internal/wait"
)

const (
	// pollEvery is the pause between two queries while a change is awaited.
	pollEvery = 2 * time.Millisecond
	// longestPause is the longest time between two changes of another group. It is longer
	// than any regular step of the cluster.
	longestPause = 100 * time.Millisecond
)

// turn holds the results of one turn.
type turn struct {
	took    *measure.Latencies // of changes of other groups
	lags    *measure.Latencies // that answers reported
	changes float64            // of the hot group, per second
	applied float64            // groups that a slave received, per second
	again   float64            // queries that went to a second replica as well
	givenUp int                // changes of other groups that were not shown in time
}

// measure changes the hot group and the others for the duration of a turn.
func (c *Config) measure(ctx context.Context, s *scene, run *cluster.Cluster) (*turn, error) {
	before, err := applied(ctx, run)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	over, cancel := context.WithTimeout(ctx, c.Duration)
	defer cancel()
	parts, ctx := errgroup.WithContext(ctx)
	var changes atomic.Int64
	parts.Go(func() error { return c.writeHot(ctx, over, s, &changes) })
	probes := make([]*probe, len(s.others))
	for i, o := range s.others {
		probes[i] = &probe{scene: s, other: o, answers: answers{url: run.URL}, most: c.Most,
			dice: rand.New(rand.NewPCG(c.Seed, uint64(i))), took: measure.NewLatencies(), lags: measure.NewLatencies()}
		parts.Go(func() error { return probes[i].run(ctx, over) })
	}
	if err := parts.Wait(); err != nil {
		return nil, err
	}
	after, err := applied(context.WithoutCancel(ctx), run)
	if err != nil {
		return nil, err
	}
	took := time.Since(began).Seconds()
	t := &turn{took: measure.NewLatencies(), lags: measure.NewLatencies(),
		changes: float64(changes.Load()) / took, applied: (after - before) / took}
	for _, p := range probes {
		t.took.Merge(p.took)
		t.lags.Merge(p.lags)
		t.givenUp += p.givenUp
	}
	t.again, err = cluster.Sum(context.WithoutCancel(ctx), run.Master, "adshard_asked_elsewhere_total")
	return t, err
}

// applied returns the number of groups that the first slave has received.
func applied(ctx context.Context, run *cluster.Cluster) (float64, error) {
	return cluster.Sum(ctx, run.Slaves[0], "adshard_items_applied_total")
}

// writeHot changes the hot group at the configured rate, or as often as commits permit,
// until over is done.
func (c *Config) writeHot(ctx, over context.Context, s *scene, changes *atomic.Int64) error {
	if c.Rate == 0 {
		return nil
	}
	began := time.Now()
	for i := 0; over.Err() == nil; i++ {
		at := began.Add(time.Duration(float64(i) / c.Rate * float64(time.Second)))
		if wait.Sleep(over, time.Until(at)) != nil {
			break
		}
		if err := s.change(ctx, i); err != nil {
			return fmt.Errorf("change the hot group: %w", err)
		}
		changes.Add(1)
	}
	return nil
}

// probe changes one of the other groups again and again, until a change is not shown in
// time. That change counts with the time that the probe has waited for it.
type probe struct {
	scene      *scene
	other      other
	answers    answers
	most       time.Duration // the longest wait for a change
	givenUp    int
	dice       *rand.Rand
	took, lags *measure.Latencies
}

func (p *probe) run(ctx, over context.Context) error {
	defer p.answers.http.CloseIdleConnections()
	for shown := false; ; shown = !shown {
		if wait.Sleep(over, time.Duration(p.dice.Int64N(int64(longestPause)))) != nil {
			return nil
		}
		if err := p.scene.show(ctx, p.other, shown); err != nil {
			return fmt.Errorf("change another group: %w", err)
		}
		began := time.Now()
		seen, err := p.answers.until(ctx, p.other.word, shown, p.most, p.lags.Add)
		if err != nil {
			return err
		}
		p.took.Add(time.Since(began))
		if !seen {
			p.givenUp++
			return nil
		}
	}
}

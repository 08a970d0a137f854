package audit

import (
	"context"
	"sync"
	"testing"
	"time"

	"adshard/internal/clustertest"
)

// TestUpgrade: a cluster of an earlier commit's programs gets those of this one, one process
// at a time, while queries are asked, data change and slices move. No answer is wrong, and
// with two replicas of each shard -audit.complete of them are complete. Once in the order that
// docs/operations.md names, and once in the opposite one.
func TestUpgrade(t *testing.T) {
	if chosen.before == "" {
		t.Skip("no programs of an earlier commit: -audit.before")
	}
	for _, order := range []string{"slaves first", "masters first"} {
		t.Run(order, func(t *testing.T) { upgrade(t, order == "slaves first") })
	}
}

// settling is how long an operator waits beside: balancers of before call a slave asked
// some time before all masters ask it.
const settling = 3 * time.Second

func upgrade(t *testing.T, slavesFirst bool) {
	data := importCorpus(t, chosen.before)
	c := startPrograms(t, chosen.before, data.path, 6, 2)
	c.Timeout = 0
	a := &auditor{t: t, cluster: c, ask: c.AskEither, data: data, outages: &outages{}, shares: true, moved: map[uint64]clustertest.Status{}}
	a.eventually("the programs of before have their replicas", func() bool { return c.whole(2) })
	data.open(t) // as an import by today's programs does, while those of before run
	a.changing = startChanger(t, data.store)
	a.begin("the programs of before")
	a.eventually("everything is asked before it begins", func() bool { return c.whole(2) && a.complete() })

	chosen.rate = chosen.replicas.rate
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { a.load(ctx) })
	switching, stop := context.WithCancel(ctx)
	defer stop()
	all.Go(func() { a.strategies(switching, 2*eachStrategy) })
	all.Go(func() { a.watch(ctx) })
	all.Go(func() {
		if err := a.changing.Run(ctx, chosen.changes, nil); err != nil {
			t.Errorf("changing the data: %v", err)
		}
	})
	a.eventually("something has moved", func() bool {
		s, err := c.Status()
		return err == nil && s.Moved.Items > 0
	})
	wait(ctx, chosen.replicas.rest)
	stop() // balancers of before let no replica join while strategies switch again and again
	steps := []struct {
		name  string
		parts []*clustertest.Process
	}{
		{"slaves", c.slaves}, {"distributors", c.distributors}, {"balancer", []*clustertest.Process{c.balancer}}, {"masters", c.masters},
	}
	for i := range steps {
		step := steps[i]
		if !slavesFirst {
			step = steps[len(steps)-1-i]
		}
		a.begin(step.name)
		for _, p := range step.parts {
			p.Stop()
			p.Programs = ""
			a.start(p)
			a.whole("after an upgrade of " + step.name)
			wait(ctx, settling)
		}
	}
	wait(ctx, chosen.replicas.rest)
	cancel()
	all.Wait()

	a.begin("the programs of now")
	a.eventually("everything is up, and complete answers", a.settled)
	a.askAll()
	a.report()
	for _, p := range a.phases {
		if share := 1 - float64(p.incomplete)/float64(max(1, p.asked)); share < chosen.replicas.share {
			t.Errorf("%s: %.2f %% of the answers are complete, though only one program at a time was replaced", p.name, 100*share)
		}
	}
}

package audit

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"adshard/balance/strategy"
	"adshard/internal/clustertest"
)

// strategies switches from one strategy to the next, beginning with the one that moves most. It uses all strategies
// in rounds, each in another order, and switches once a period, unless -audit.strategy gives another one.
func (a *auditor) strategies(ctx context.Context, period time.Duration) {
	period = cmp.Or(chosen.strategy, period)
	dice := rand.New(rand.NewPCG(6, 6))
	for names := mixed(dice, "random"); ; names = mixed(dice, "") {
		for i := 0; i < len(names); i++ {
			pause := period
			err := a.cluster.Post(context.Background(), "/v1/balance/strategy", map[string]string{"name": names[i]})
			if err != nil { // the balancer is being restarted
				a.t.Logf("switch the strategy: %v", err)
				pause, names = 200*time.Millisecond, append(names, names[i])
			} else {
				a.noteStrategy(names[i])
			}
			if !wait(ctx, pause) {
				return
			}
		}
	}
}

// mixed returns the names of all strategies in random order, with first in the first place unless it is "".
func mixed(dice *rand.Rand, first string) []string {
	names := strategy.Names()
	dice.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	if i := slices.Index(names, first); i >= 0 {
		names[0], names[i] = names[i], names[0]
	}
	return names
}

// kills kills one process after the other and restarts it.
func (a *auditor) kills(ctx context.Context) {
	dice := rand.New(rand.NewPCG(2, 2))
	c := a.cluster
	for i := 0; wait(ctx, chosen.kill); i++ {
		switch i % 3 {
		case 0:
			a.killSlave(dice.IntN(len(c.slaves)), i%4 == 3, time.Duration(dice.IntN(1000))*time.Millisecond)
		case 1:
			a.again(c.distributors[dice.IntN(len(c.distributors))])
		case 2:
			a.again(c.balancer)
		}
	}
}

func (a *auditor) again(p *clustertest.Process) {
	p.Kill()
	a.start(p)
}

func (a *auditor) start(p *clustertest.Process) {
	if err := p.Start(); err != nil {
		a.t.Errorf("start %s again: %v", p.Command, err)
	}
}

// killSlave kills a slave and waits until it holds all data again.
func (a *auditor) killSlave(i int, empty bool, down time.Duration) {
	c := a.cluster
	a.outages.begin()
	defer a.outages.end()
	c.slaves[i].Kill()
	if empty {
		c.wipe(i)
	}
	time.Sleep(down)
	if err := c.slaves[i].Start(); err != nil {
		a.t.Errorf("start slave %d again: %v", i, err)
		return
	}
	for end := time.Now().Add(clustertest.Patience); !c.ready(i) || !a.complete(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			a.t.Errorf("slave %d is not ready %v after its start", i, clustertest.Patience)
			return
		}
	}
}

// complete reports whether each master gives complete answers again.
func (a *auditor) complete() bool {
	for _, url := range a.cluster.Masters {
		got, err := a.cluster.AskAt(url, a.data.questions[0].Params(false))
		if err != nil || !got.Coverage.Complete {
			return false
		}
	}
	return true
}

// outages are the times in which a slave was down.
type outages struct {
	mu   sync.Mutex
	list []outage // under mu
}

type outage struct{ from, until time.Time }

func (o *outages) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, outage{from: time.Now()})
}

func (o *outages) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list[len(o.list)-1].until = time.Now()
}

// during reports whether a time overlaps an outage.
func (o *outages) during(from, until time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, v := range o.list {
		if !until.Before(v.from) && (v.until.IsZero() || !from.After(v.until)) {
			return true
		}
	}
	return false
}

// lengths returns how long the outages were.
func (o *outages) lengths() (list []time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, v := range o.list {
		list = append(list, v.until.Sub(v.from).Round(time.Millisecond))
	}
	return list
}

// wait waits for d, and returns false if ctx was done first.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

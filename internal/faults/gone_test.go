package faults

import (
	"crypto/tls"
	"fmt"
	"time"

	strategies "adshard/balance/strategy"
	"adshard/internal/clustertest"
	"adshard/internal/node/httpapi/api"
)

// gone kills a process, and restarts it only after the cluster has continued without it: answers are complete, new
// changes are served, and slices move.
type gone struct{ on } // may be leader until its name is known

// leader stands for the balancer that leads.
const leader = "the leading balancer"

// goneForGood kills a slave, the leading balancer, a master, the distributor and a member of etcd, one at a time, in a cluster in
// which each has a replacement: the balancers distribute, too.
func goneForGood() *schedule {
	s := &schedule{database: "postgres", tls: true, etcd: true, strategy: strategies.Default, order: "hash",
		length: time.Second, queries: 100, changes: 50}
	for _, name := range []string{slaveNames()[0], leader, masterNames()[0], distributorNames()[0], etcdNames()[0]} {
		s.steps = append(s.steps, step{kind: kind{name: "gone for good"}, fault: gone{on{name}}})
	}
	return s
}

func (gone) touches() []string { return []string{"one at a time"} }

func (f gone) do(g *grid) error {
	if f.on[0] == leader {
		name, err := g.leads()
		if err != nil {
			return err
		}
		f.on[0] = name
	}
	g.t.Logf("gone: %s", f)
	if err := f.end(g); err != nil {
		return err
	}
	return g.goesOn()
}

func (f gone) end(g *grid) error {
	if p := g.part(f.on[0]); p != nil {
		g.down(p)
		return nil
	}
	return etcdDown(f).do(g)
}

// undo waits until the cluster is whole, so that only one process is away at a time.
func (f gone) undo(g *grid) error {
	if p := g.part(f.on[0]); p != nil {
		g.up(p)
	} else if err := etcdDown(f).undo(g); err != nil {
		return err
	}
	return g.eventually("everything is whole with "+f.String(), func() bool { ok, _ := g.whole(); return ok })
}

// leads returns the name of the balancer that leads.
func (g *grid) leads() (name string, err error) {
	secure := (*tls.Config)(nil)
	if g.security != nil {
		secure = g.security.client
	}
	err = g.eventually("a balancer leads", func() bool {
		for _, name = range balancerNames() {
			c := clustertest.NewClient(3*time.Second, secure, g.url(name, adminPort))
			_, err := c.Status()
			c.Close()
			if err == nil {
				return true
			}
		}
		return false
	})
	return name, err
}

// goesOn waits until answers are complete and right, new changes are served, and a slice can be moved.
func (g *grid) goesOn() error {
	for _, goes := range []struct {
		what string
		wait func() error
	}{
		{"answers are complete", g.answersInARow},
		{"what is written is served", g.servesWhatIsWritten},
		{"a slice moves", g.moves},
	} {
		began := time.Now()
		if err := goes.wait(); err != nil {
			return err
		}
		g.t.Logf("gone: after %.1f s more %s", time.Since(began).Seconds(), goes.what)
	}
	return nil
}

// answersInARow waits until a number of successive answers are complete and right.
func (g *grid) answersInARow() error {
	const n = 20
	inARow := 0
	return g.eventually(fmt.Sprint(n, " answers in a row are complete"), func() bool {
		q := &g.stock.questions[inARow%len(g.stock.questions)]
		a, err := g.client.AskEither(q.Params(true))
		if inARow++; err != nil || !a.Coverage.Complete || q.Difference(&a, true) != "" {
			inARow = 0
		}
		return inARow == n
	})
}

// servesWhatIsWritten waits until an answer shows a change that was acknowledged after the call.
func (g *grid) servesWhatIsWritten() error {
	before, _ := g.changing.Counts()
	if err := g.eventually("changes are acknowledged", func() bool { n, _ := g.changing.Counts(); return n > before }); err != nil {
		return err
	}
	at, err := g.database.store.Newest(g.t.Context())
	if err != nil {
		return err
	}
	return g.eventually("they are served", func() bool {
		a, err := g.client.AskEither(g.stock.questions[0].Params(true))
		return err == nil && a.Coverage.Complete && a.Coverage.AppliedClock >= at.Clock
	})
}

// moves orders moves until one slice has moved to another slave.
func (g *grid) moves() error {
	return g.eventually("a slice moves", func() bool {
		var list api.SliceList
		slaves, err := g.client.Slaves()
		if err != nil || g.client.Get("/v1/balance/slices", &list) != nil {
			return false
		}
		for _, slice := range list.Slices {
			for _, to := range slaves {
				if slice.Items > 0 && slice.Slave != to.Shard && to.Alive && to.Serving && g.moved(slice.Slice, to) {
					return true
				}
			}
		}
		return false
	})
}

// moved orders a move, and reports whether it has ended within ten seconds: a strategy may move the slice elsewhere,
// or may not release it yet.
func (g *grid) moved(slice uint64, to api.Slave) bool {
	order := map[string]any{"slice": slice, "slave": to.Name}
	if g.client.Post(g.t.Context(), "/v1/balance/move", order) != nil {
		return false
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var list api.SliceList
		if g.client.Get("/v1/balance/slices?limit=1000000&slave="+to.Name, &list) != nil {
			continue
		}
		for _, s := range list.Slices {
			if s.Slice == slice && s.To == "" {
				return true
			}
		}
	}
	return false
}

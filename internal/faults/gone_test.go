package faults

import (
	"crypto/tls"
	"fmt"
	"time"

	"adshard/internal/clustertest"
)

// gone is a process that is killed, and back only when the cluster has gone on without it: it answers
// in full, serves what is written since, and moves slices.
type gone struct {
	on             // leader until it is known
	moves strategy // switching to it moves slices
}

// leader stands for the balancer that leads.
const leader = "the leading balancer"

// goneForGood kills one process of each kind, in a cluster in which each has another one to take its place.
func goneForGood() *schedule {
	s := &schedule{database: "postgres", tls: true, etcd: true, strategy: "rendezvous", order: "hash",
		length: time.Second, queries: 100, changes: 50}
	for i, name := range []string{slaveNames()[0], leader, "master-0", distributorNames()[0], etcdNames()[0]} {
		moves := strategy("consistent-random")
		if i%2 == 1 {
			moves = "rendezvous"
		}
		s.steps = append(s.steps, step{kind: kind{name: "gone for good"}, fault: gone{on{name}, moves}})
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
	return g.goesOn(f.moves)
}

func (f gone) end(g *grid) error {
	if p := g.part(f.on[0]); p != nil {
		g.down(p)
		return nil
	}
	return etcdDown{f.on}.do(g)
}

// undo waits until all is whole, so that the next one is the only one that is away.
func (f gone) undo(g *grid) error {
	if p := g.part(f.on[0]); p != nil {
		g.up(p)
	} else if err := (etcdDown{f.on}).undo(g); err != nil {
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

// goesOn waits until answers are complete and right, what is written now is served, and slices move.
func (g *grid) goesOn(moves strategy) error {
	for _, goes := range []struct {
		what string
		wait func() error
	}{
		{"answers are complete", g.answersInARow},
		{"what is written is served", g.servesWhatIsWritten},
		{"slices move", func() error { return g.movesTo(moves) }},
	} {
		began := time.Now()
		if err := goes.wait(); err != nil {
			return err
		}
		g.t.Logf("gone: after %.1f s more %s", time.Since(began).Seconds(), goes.what)
	}
	return nil
}

// answersInARow waits until so many answers, one after the other, are complete and right.
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

// servesWhatIsWritten waits until a change that is acknowledged after now is in an answer.
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

// movesTo switches to another strategy, and waits until it has moved something.
func (g *grid) movesTo(s strategy) error {
	if err := s.do(g); err != nil {
		return err
	}
	before, known := uint64(0), false
	return g.eventually("slices move", func() bool {
		status, err := g.client.Status()
		if err == nil && !known {
			before, known = status.Moved.Items, true
		}
		return err == nil && status.Moved.Items > before
	})
}

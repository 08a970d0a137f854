package faults

import (
	"os"
	"testing"
	"time"

	strategies "adshard/balance/strategy"
)

// pause is SIGSTOP for a time, as of a machine that is moved or swaps: the process keeps its connections, locks and leases,
// and goes on as if no time had passed. goesOn: meanwhile the cluster goes on without it.
type pause struct {
	stop   // leader, until it is known which
	goesOn bool
}

func (f *pause) do(g *grid) error {
	if f.on[0] == leader {
		name, err := g.leads()
		if err != nil {
			return err
		}
		f.on[0] = name
	}
	if err := f.stop.do(g); err != nil || !f.goesOn {
		return err
	}
	g.t.Logf("gone: %s is paused", f)
	return g.goesOn()
}

// undo waits until all is whole where the next one is to be the only one.
func (f *pause) undo(g *grid) error {
	if err := f.stop.undo(g); err != nil || !f.goesOn {
		return err
	}
	return g.eventually("everything is whole with "+f.String(), func() bool { ok, _ := g.whole(); return ok })
}

// pauses are those of a process of each kind.
func pauses(at, lasts time.Duration, goesOn bool) (list []step) {
	for _, name := range []string{slaveNames()[slaveCount-1], leader, masterNames()[0], distributorNames()[0]} {
		list = append(list, step{at: at, lasts: lasts, kind: kind{name: "paused"}, fault: &pause{stop{on{name}}, goesOn}})
	}
	return list
}

// touches: in the long form one follows the other.
func (f *pause) touches() []string {
	if f.goesOn {
		return []string{"one at a time"}
	}
	return f.on
}

// TestPausedForLong stops a process of each kind for half a minute, one after the other, for GONE_LONG=1. For some seconds, and
// all at once, TestSchedules does.
func TestPausedForLong(t *testing.T) {
	if os.Getenv("GONE_LONG") == "" {
		t.Skip("it takes some minutes: make gone")
	}
	s := &schedule{database: "postgres", tls: true, strategy: strategies.Default, order: "hash", length: time.Second, queries: 100, changes: 50,
		steps: pauses(0, 30*time.Second, true)}
	n := newNetwork()
	for _, w := range play(t, t, n, newStock(t, n), s, os.Getenv("FAULTS_LOGS")).Wrong {
		t.Error(w)
	}
}

package faults

import (
	"os"
	"testing"
	"time"

	strategies "adshard/balance/strategy"
)

// pause sends SIGSTOP to a process for a time, as when a machine is moved or swaps: the process keeps its connections,
// locks and leases, and then continues as if no time had passed. With goesOn, it checks that the cluster continues
// meanwhile.
type pause struct {
	stop   // on leader until its name is known
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

// undo waits until the cluster is whole, if only one process may be away at a time.
func (f *pause) undo(g *grid) error {
	if err := f.stop.undo(g); err != nil || !f.goesOn {
		return err
	}
	return g.eventually("everything is whole with "+f.String(), func() bool { ok, _ := g.whole(); return ok })
}

// pauses returns pauses of one process of each kind.
func pauses(at, lasts time.Duration, goesOn bool) (list []step) {
	for _, name := range []string{slaveNames()[slaveCount-1], leader, masterNames()[0], distributorNames()[0]} {
		list = append(list, step{at: at, lasts: lasts, kind: kind{name: "paused"}, fault: &pause{stop{on{name}}, goesOn}})
	}
	return list
}

// touches makes the pauses of the long form follow each other.
func (f *pause) touches() []string {
	if f.goesOn {
		return []string{"one at a time"}
	}
	return f.on
}

// TestPausedForLong stops a process of each kind for half a minute, one after the other, if GONE_LONG=1. TestSchedules does so
// for some seconds, and all at once.
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

package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	strategies "adshard/balance/strategy"
	"adshard/internal/node/httpapi/api"
)

// The commands of an operator. The balancer may be away, so they are repeated.

// operatorTime limits how long a command is repeated.
const operatorTime = 90 * time.Second

// errRefused is the error of a command that the balancer refuses for now. When the cluster is whole again it must
// accept the command.
var errRefused = errors.New("refused")

// refusals collects faults of which a command was refused; do is set if that was the command of doing.
type refusals struct {
	mu   sync.Mutex
	list []refusal
}

type refusal struct {
	fault fault
	do    bool
}

func (r *refusals) add(f fault, do bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, refusal{f, do})
}

// repeat repeats the commands when the cluster is whole, so that all drawn faults happen. Its parameter whole waits
// until the cluster is whole again.
func (r *refusals) repeat(g *grid, whole func() error) error {
	for _, one := range r.list {
		var err error
		if one.do {
			if err = one.fault.do(g); err == nil {
				err = whole()
			}
		}
		if err == nil {
			err = one.fault.undo(g)
		}
		if err != nil {
			return fmt.Errorf("%s, though everything is whole: %w", one.fault, err)
		}
		if err := whole(); err != nil {
			return err
		}
	}
	return nil
}

// command repeats a command until it is accepted.
func (g *grid) command(path string, body any) (err error) {
	for end := time.Now().Add(operatorTime); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if err = g.client.Post(context.Background(), path, body); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%w: %w", errRefused, err)
}

// operated returns what a fault caused by the operator touches; no other such fault is under way at the same time.
func operated(more ...string) []string { return append([]string{"operator"}, more...) }

// spare is the slave that is added.
const spare = "slave-6"

// strategy switches to any strategy that works in the order of keys, and back.
type strategy string

func strategySwitched(dice *rand.Rand, s *schedule) fault {
	return strategy(pick(dice, slices.DeleteFunc(strategies.Names(), func(name string) bool {
		return name == s.strategy || !suits(name, s.order)
	})))
}

func (f strategy) String() string    { return string(f) }
func (f strategy) touches() []string { return operated() }

func (f strategy) do(g *grid) error {
	return g.command("/v1/balance/strategy", map[string]string{"name": string(f)})
}
func (f strategy) undo(g *grid) error {
	return g.command("/v1/balance/strategy", map[string]string{"name": g.strategy})
}

// count changes the number of replicas.
type count int

func replicasChanged(dice *rand.Rand, _ *schedule) fault { return count(pick(dice, []int{1, 3})) }

func (f count) String() string     { return fmt.Sprint("to ", int(f)) }
func (f count) touches() []string  { return operated(slaveNames()...) }
func (f count) do(g *grid) error   { return g.wants(int(f)) }
func (f count) undo(g *grid) error { return g.wants(replicas) }

func (g *grid) wants(n int) error {
	err := g.command("/v1/balance/replicas", map[string]int{"replicas": n})
	if err == nil {
		g.mu.Lock()
		g.replicas = n
		g.mu.Unlock()
	}
	return err
}

// added adds a slave, which becomes a spare, and removes it.
type added struct{}

func slaveAdded(*rand.Rand, *schedule) fault { return added{} }

func (added) String() string    { return spare }
func (added) touches() []string { return operated(spare) }
func (added) do(g *grid) error  { g.slave(spare); return nil }

func (added) undo(g *grid) error {
	p := g.part(spare)
	if p == nil { // it has been drained, and perhaps removed
		if g.state(spare) == "" {
			return nil
		}
		return g.command("/v1/slaves/"+spare+"/remove", nil)
	}
	if err := g.drain(spare); err != nil {
		return err
	}
	for state := api.SlaveState(""); state != api.SlaveStateDrained; time.Sleep(100 * time.Millisecond) {
		state = g.state(spare)
	}
	g.down(p)
	g.mu.Lock()
	delete(g.parts, spare)
	g.retired = append(g.retired, p)
	g.mu.Unlock()
	return g.command("/v1/slaves/"+spare+"/remove", nil)
}

// drained drains a slave and reactivates it.
type drained struct{ on }

func slaveDrained(dice *rand.Rand, _ *schedule) fault { return drained{on{pick(dice, slaveNames())}} }

func (f drained) touches() []string { return operated(f.on...) }
func (f drained) do(g *grid) error  { return g.drain(f.on[0]) }

func (f drained) undo(g *grid) error {
	err := g.command("/v1/slaves", map[string]string{"address": g.address(f.on[0], slavePort)})
	if err == nil {
		g.mu.Lock()
		g.active[f.on[0]] = true
		g.mu.Unlock()
	}
	return err
}

func (g *grid) drain(name string) error {
	err := g.command("/v1/slaves/"+name+"/drain", nil)
	if err == nil {
		g.mu.Lock()
		delete(g.active, name)
		g.mu.Unlock()
	}
	return err
}

// state returns the balancer's state of a slave, or "" if the balancer does not answer or does not know it.
func (g *grid) state(name string) api.SlaveState {
	list, err := g.client.Slaves()
	if err != nil {
		return ""
	}
	for _, s := range list {
		if s.Name == name {
			return s.State
		}
	}
	return ""
}

// told is a fault that logs its calls.
type told struct {
	on
	all *[]string
}

func (f told) do(*grid) error   { *f.all = append(*f.all, "do "+f.on[0]); return nil }
func (f told) undo(*grid) error { *f.all = append(*f.all, "undo "+f.on[0]); return nil }

// TestRefusalsAreRepeated: refused commands are repeated later, each when everything is whole.
func TestRefusalsAreRepeated(t *testing.T) {
	var got []string
	var r refusals
	r.add(told{on{"a"}, &got}, true)
	r.add(told{on{"b"}, &got}, false)
	if err := r.repeat(nil, func() error { got = append(got, "whole"); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"do a", "whole", "undo a", "whole", "undo b", "whole"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

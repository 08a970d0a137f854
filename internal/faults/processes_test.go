package faults

import (
	"math/rand/v2"
	"syscall"
)

// kill is kill -9; the process is down until it is undone.
type kill struct{ on }

func killed(list func() []string) func(*rand.Rand, *schedule) fault {
	return func(dice *rand.Rand, _ *schedule) fault { return kill{on{pick(dice, list())}} }
}

func (f kill) do(g *grid) error   { g.down(g.part(f.on[0])); return nil }
func (f kill) undo(g *grid) error { g.up(g.part(f.on[0])); return nil }

// stop is SIGSTOP: the process accepts connections and does nothing.
type stop struct{ on }

func stopped(list func() []string) func(*rand.Rand, *schedule) fault {
	return func(dice *rand.Rand, _ *schedule) fault { return stop{on{pick(dice, list())}} }
}

// do waits for a part that is being started again.
func (f stop) do(g *grid) error {
	return g.eventually("the process is stopped", func() bool { return g.part(f.on[0]).Signal(syscall.SIGSTOP) == nil })
}

func (f stop) undo(g *grid) error { return g.part(f.on[0]).Signal(syscall.SIGCONT) }

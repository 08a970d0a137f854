package faults

import (
	"math/rand/v2"
	"syscall"
)

// kill sends SIGKILL; the process is down until the fault is undone.
type kill struct{ on }

func killed(list func() []string) func(*rand.Rand, *schedule) fault {
	return func(dice *rand.Rand, _ *schedule) fault { return kill{on{pick(dice, list())}} }
}

func (f kill) do(g *grid) error   { g.down(g.part(f.on[0])); return nil }
func (f kill) undo(g *grid) error { g.up(g.part(f.on[0])); return nil }

// stop sends SIGSTOP: the process accepts connections but does nothing.
type stop struct{ on }

func stopped(list func() []string) func(*rand.Rand, *schedule) fault {
	return func(dice *rand.Rand, _ *schedule) fault { return stop{on{pick(dice, list())}} }
}

// do waits if the part is being restarted.
func (f stop) do(g *grid) error {
	return g.eventually("the process is stopped", func() bool { return g.part(f.on[0]).Signal(syscall.SIGSTOP) == nil })
}

func (f stop) undo(g *grid) error { return g.part(f.on[0]).Signal(syscall.SIGCONT) }

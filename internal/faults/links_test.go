package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

func noHosts(m machine) string { return m.hosts }

// cut drops the packets that one part sends to others, or also those that they send to it. Connections stay open but
// carry nothing.
type cut struct {
	from string
	to   on
	both bool
}

func cutLink(both bool) func(*rand.Rand, *schedule) fault {
	return func(dice *rand.Rand, _ *schedule) fault {
		f := cut{pick(dice, allNames()), on{pick(dice, allNames())}, both}
		for f.to[0] == f.from {
			f.to[0] = pick(dice, allNames())
		}
		return f
	}
}

// cutDatabase returns a kind's draw function for cutting a part off from PostgreSQL.
func cutDatabase(both bool) func(*rand.Rand, *schedule) fault {
	return func(dice *rand.Rand, s *schedule) fault {
		if s.database != "postgres" {
			return nil
		}
		part := pick(dice, append(balancerNames(), distributorNames()...))
		if !both && dice.IntN(2) == 0 {
			return cut{databaseHost, on{part}, both}
		}
		return cut{part, on{databaseHost}, both}
	}
}

// cutEtcd draws a balancer to be cut off from all members.
func cutEtcd(dice *rand.Rand, s *schedule) fault {
	if !s.etcd {
		return nil
	}
	return cut{pick(dice, balancerNames()), etcdNames(), dice.IntN(2) == 0}
}

func (f cut) String() string {
	if f.both {
		return f.from + " <-> " + f.to.String()
	}
	return f.from + " -> " + f.to.String()
}

// touches leaves out names that are not parts, such as the database.
func (f cut) touches() []string {
	return slices.DeleteFunc(append(on{f.from}, f.to...), func(name string) bool { return !slices.Contains(allNames(), name) })
}

func (f cut) do(g *grid) error   { return f.each(g.network.cut) }
func (f cut) undo(g *grid) error { return f.each(g.network.join) }

func (f cut) each(do func(from, to string) error) (err error) {
	for _, to := range f.to {
		err = errors.Join(err, do(f.from, to))
		if f.both {
			err = errors.Join(err, do(to, f.from))
		}
	}
	return err
}

// off unplugs the cable of a part's host.
type off struct{ on }

func cutOff(dice *rand.Rand, s *schedule) fault { return off{on{pick(dice, s.hosts())}} }

func (f off) do(g *grid) error   { return g.network.off(f.on[0]) }
func (f off) undo(g *grid) error { return g.network.on(f.on[0]) }

// slow limits the bandwidth of a part's host: packets wait up to 400 ms, and beyond that they are lost.
type slow struct {
	on
	kbit int
}

func slowLink(dice *rand.Rand, s *schedule) fault {
	return slow{on{pick(dice, s.hosts())}, pick(dice, []int{64, 256, 1024})}
}

func (f slow) String() string     { return fmt.Sprintf("%s at %d kbit/s", f.on, f.kbit) }
func (f slow) do(g *grid) error   { return g.network.slow(f.on[0], f.kbit) }
func (f slow) undo(g *grid) error { return g.network.fast(f.on[0]) }

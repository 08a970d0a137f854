package faults

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// serverDown kills PostgreSQL with all its processes.
type serverDown struct{}

func serverKilled(_ *rand.Rand, s *schedule) fault {
	if s.database != "postgres" {
		return nil
	}
	return serverDown{}
}

func (serverDown) String() string     { return "postgres" }
func (serverDown) touches() []string  { return []string{"database"} }
func (serverDown) do(g *grid) error   { return g.database.server.Kill() }
func (serverDown) undo(g *grid) error { return g.database.server.Start() }

// impostor starts the balancer or the distributor on another database, as if by mistake, and later on the right one
// again.
type impostor struct{ on }

func otherDatabase(dice *rand.Rand, _ *schedule) fault {
	return impostor{on{pick(dice, append(balancerNames(), distributorNames()...))}}
}

func (f impostor) do(g *grid) error   { return f.with(g, g.stock.other(g.database)) }
func (f impostor) undo(g *grid) error { return f.with(g, g.database.url) }

func (f impostor) with(g *grid, url string) error {
	p := g.part(f.on[0])
	g.down(p)
	defer g.up(p)
	return p.Configure(p.Changed(g.t, "db", url))
}

// eventually waits until ok returns true.
func (g *grid) eventually(what string, ok func() bool) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if ok() {
			return nil
		}
	}
	_, why := g.whole()
	return fmt.Errorf("not within %v: %s (%s)", patience, what, why)
}

// patience limits all waits.
const patience = 5 * time.Minute

package faults

import (
	"math/rand/v2"
	"slices"
)

// upgraded replaces the programs of all parts, one at a time, in the order of docs/operations/upgrade.md: each part
// ends normally, and the next one waits until everything is whole. The programs before are those of FAULTS_OLD, or
// else the same ones.
type upgraded struct{}

func programsReplaced(*rand.Rand, *schedule) fault { return upgraded{} }

func (upgraded) String() string    { return "one at a time" }
func (upgraded) touches() []string { return operated(allNames()...) }
func (upgraded) undo(*grid) error  { return nil }

func (upgraded) do(g *grid) error {
	for _, name := range slices.Concat(slaveNames(), distributorNames(), balancerNames(), masterNames()) {
		p := g.part(name)
		g.hold(p)
		p.Stop()
		g.mu.Lock()
		p.Programs = ""
		g.mu.Unlock()
		g.up(p)
		if err := g.eventually("everything is whole after "+name+" was replaced", func() bool { ok, _ := g.whole(); return ok }); err != nil {
			return err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.programs = ""
	return nil
}

// upgrades reports whether the programs are replaced.
func (s *schedule) upgrades() bool {
	return slices.ContainsFunc(s.steps, step.upgrades)
}

func (s step) upgrades() bool { _, ok := s.fault.(upgraded); return ok }

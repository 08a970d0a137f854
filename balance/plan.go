package balance

import (
	"fmt"
	"slices"
	"time"

	"adshard/fault"
)

// Plan makes the first model of nodes that are one slave each.
func Plan(s Strategy, order Order, nodes []Node, items Items, limits map[string]Limit) (*Model, Proposal, error) {
	base, err := NewModel(nodes)
	if err != nil {
		return nil, Proposal{}, err
	}
	return PlanOn(s, order, base, items, limits, time.Time{})
}

// PlanOn makes the first model by a strategy, of one of view 0: for the mapper and
// for stores that are built offline, where the time at is zero.
func PlanOn(s Strategy, order Order, base *Model, items Items, limits map[string]Limit, at time.Time) (*Model, Proposal, error) {
	proposal, err := s.Initial(Input{Model: base, Items: items, Order: order, Limits: LimitsOf(base, limits), Time: at})
	if err != nil {
		return nil, Proposal{}, fmt.Errorf("strategy %s: %w", s.Name(), err)
	}
	if why := CheckMemory(proposal.Memory); why != "" {
		return nil, Proposal{}, fault.Newf(fault.Invalid, "balance: plan", "strategy %s: %s", s.Name(), why)
	}
	model, err := base.Apply(proposal.Ops)
	if err != nil {
		return nil, Proposal{}, fmt.Errorf("strategy %s made an impossible proposal: %w", s.Name(), err)
	}
	return model, proposal, nil
}

// LimitsOf returns the limits of a model's nodes: those of their slaves. Slaves of one
// node share its queries, and each has all of its items.
func LimitsOf(m *Model, limits map[string]Limit) map[NodeID]Limit {
	out := make(map[NodeID]Limit, len(limits))
	if len(limits) == 0 {
		return out
	}
	single := !slices.ContainsFunc(m.Nodes(), func(n Node) bool { return len(m.Set(n.ID)) > 1 })
	for _, n := range m.Nodes() {
		var sum Limit
		given := false
		for _, s := range m.Set(n.ID) {
			l, ok := limits[s.Name]
			given = given || ok
			sum.Share += uint32(l.Strength())
			if l.Weight > 0 && (sum.Weight == 0 || l.Weight < sum.Weight) {
				sum.Weight = l.Weight
			}
		}
		if given || !single {
			out[n.ID] = sum
		}
	}
	return out
}

// CheckMemory returns why a memory is not accepted, or "".
func CheckMemory(b []byte) string {
	if len(b) <= MaxMemory {
		return ""
	}
	return fmt.Sprintf("it wants to remember %d bytes, and a strategy may remember at most %d", len(b), MaxMemory)
}

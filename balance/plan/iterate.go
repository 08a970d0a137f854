package plan

import (
	"fmt"
	"strings"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/load"
	"adshard/fault"
)

// iteration empties shards that drain or are lost, and then asks the strategy; one quantum
// has both results. While slices that must leave wait for the budget, the strategy is not
// asked: one that moves much would use up the budget again and again.
func (p *Planner) iteration(now time.Duration) *cluster.Change {
	p.iterations++
	p.empty = now + emptyPace
	j := p.judgeNow(now)
	model, ops, why := p.evacuate(j)
	if !p.Paused {
		j.in.Model = model
		p.foresee(j)
	}
	learned := false
	if !p.Paused && !j.crowded {
		it, next := p.consult(j, p.strategy)
		it.Evacuated = len(ops)
		if it.Refused != "" {
			p.refused++
			p.Trouble(fault.Newf(fault.Invalid, "balance: iterate", "strategy %s: %s", it.Strategy, it.Refused))
		}
		p.remember(it, why)
		learned = it.Refused == "" && p.recall.keep(it.Strategy, it.Proposal.Memory)
		if it.Refused == "" && len(it.Proposal.Ops) > 0 {
			model, ops = next, append(ops, it.Proposal.Ops...)
			p.Event(cluster.Event{Text: it.summary()})
		}
	}
	if len(ops) == 0 && !learned {
		return nil
	}
	return &cluster.Change{Model: model, Ops: append([]balance.Op{}, ops...), Why: why}
}

// summary says in one line what a strategy proposes, and why.
func (it Iteration) summary() string {
	kinds := make(map[balance.OpKind]int)
	for _, o := range it.Proposal.Ops {
		kinds[o.Kind]++
	}
	var parts []string
	if it.Moves > 0 {
		parts = append(parts, cluster.Counted(it.Moves, "move")+" of "+cluster.Counted(it.Items, "ad group"))
	}
	if n := kinds[balance.OpSplit]; n > 0 {
		parts = append(parts, cluster.Counted(n, "split"))
	}
	if n := kinds[balance.OpMerge]; n > 0 {
		parts = append(parts, cluster.Counted(n, "merge"))
	}
	text := it.Strategy + " begins " + strings.Join(parts, ", ")
	for _, r := range it.Proposal.Reasons {
		if r.Op < 0 && r.Slice == 0 {
			return text + ": " + r.Text
		}
	}
	return text
}

// consult asks a strategy and checks its proposal. model is the resulting model, or nil if
// the proposal is refused.
func (p *Planner) consult(j *judge, s balance.Strategy) (it Iteration, model *balance.Model) {
	it = Iteration{At: j.now, Strategy: s.Name()}
	in := j.in
	in.Memory = p.recall[s.Name()]
	proposal, err := s.Iterate(in)
	if err != nil {
		it.Refused = err.Error()
		return it, nil
	}
	it.Proposal = proposal
	if it.Refused = CheckMemory(proposal.Memory); it.Refused != "" {
		return it, nil
	}
	if len(proposal.Ops) == 0 {
		return it, j.in.Model
	}
	v, err := j.check(proposal)
	if err != nil {
		it.Refused = err.Error()
		return it, nil
	}
	it.Moves, it.Items, it.Weight = v.moves, v.items, v.weight
	return it, v.model
}

// foresee computes the bounds, and asks the strategies that run in shadow.
func (p *Planner) foresee(j *judge) {
	p.bound = load.LowerBound(j.in)
	p.leastMove, p.leastShare = load.LeastMove(j.in, tolerance)
	p.shadows = p.shadows[:0]
	for _, s := range p.Config.Shadows {
		if s.Name() == p.strategy.Name() {
			continue
		}
		it, _ := p.consult(j, s)
		if it.Refused == "" { // it becomes durable with the next change, and moves nothing
			p.recall.keep(it.Strategy, it.Proposal.Memory)
		}
		p.shadows = append(p.shadows, Shadow{
			Strategy: it.Strategy, MaxOverMean: it.Proposal.Expected.Ratio(), Moves: it.Moves, Items: it.Items,
			Weight: it.Weight, Share: float64(it.Weight) / float64(max(1, j.weight)), Refused: it.Refused,
		})
	}
}

// remember records the strategy's reasons, also by slice, and adds the causes of new moves
// to why.
func (p *Planner) remember(it Iteration, why cluster.Causes) {
	p.last = it
	if it.Moves+it.Evacuated > 0 {
		p.idle = 0
	} else if p.idle++; p.idle == 1 {
		p.since = it.At
	}
	for _, r := range it.Proposal.Reasons {
		switch {
		case r.Op < 0 || r.Op >= len(it.Proposal.Ops):
			if r.Slice != 0 {
				p.Memory.Add(it.At, r.Slice, it.Strategy+" left it: "+r.Text)
			}
		case it.Refused != "":
			o := it.Proposal.Ops[r.Op]
			p.Memory.Add(it.At, o.Slice, fmt.Sprintf("%s proposed to %s (%s), which was refused: %s", it.Strategy, o, r.Text, it.Refused))
		default:
			why.Set(it.Proposal.Ops[r.Op], cluster.Cause{Text: it.Strategy + ": " + r.Text})
		}
	}
	for _, o := range it.Proposal.Ops {
		if why.Of(o).Text == "" && it.Refused == "" {
			why.Set(o, cluster.Cause{Text: it.Strategy + " gave no reason"})
		}
	}
}

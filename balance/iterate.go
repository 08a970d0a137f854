package balance

import (
	"fmt"
	"strings"
	"time"

	"adshard/fault"
)

// planning is the state of the iterations.
type planning struct {
	next       time.Duration // when the next one is due
	empty      time.Duration // when nodes that drain or are lost are emptied further
	paused     bool
	iterations uint64
	idle       uint64        // iterations, one after another, that moved nothing
	since      time.Duration // of the first of them
	last       Iteration
	shadows    []Shadow
	bound      Bound
	leastMove  uint64
	leastShare float64
	adopted    bool
	drained    []NodeID // have no slices left
	forgot     bool     // a strategy's memory was dropped, which is not durable yet
}

// Iteration is a strategy's proposal and its outcome.
type Iteration struct {
	// At is the mapper's time.
	At       time.Duration
	Strategy string
	Proposal Proposal
	// Refused says why the proposal was refused, or why there is none.
	Refused string
	// Moves is how many moves would begin, of Items items of Weight in all.
	Moves  int
	Items  int
	Weight uint64
	// Evacuated is how many slices left nodes that drain or are lost, before the
	// strategy was asked.
	Evacuated int
}

// tolerance is how far above the mean a node may lie in LeastMove.
const tolerance = 0.1

// iteration empties nodes that drain or are lost, then asks the strategy, all
// in one quantum. A strategy that moves much would use up the budget again and again: it is
// not asked while slices that must leave wait for it.
func (m *Mapper) iteration(now time.Duration) {
	m.planning.iterations++
	m.planning.empty = now + emptyPace
	j := m.judgeNow(now)
	model, ops, why := m.evacuate(j)
	if !m.planning.paused {
		j.in.Model = model
		m.foresee(j)
	}
	learned := false
	if !m.planning.paused && !j.crowded {
		it, next := m.consult(j, m.cfg.Strategy)
		it.Evacuated = len(ops)
		if it.Refused != "" {
			m.counters.refused++
			m.trouble(fault.Newf(fault.Invalid, "balance: iterate", "strategy %s: %s", it.Strategy, it.Refused))
		}
		m.remember(it, why)
		learned = it.Refused == "" && m.recall.keep(it.Strategy, it.Proposal.Memory)
		if it.Refused == "" && len(it.Proposal.Ops) > 0 {
			model, ops = next, append(ops, it.Proposal.Ops...)
			m.out.Events = append(m.out.Events, Event{Text: it.summary()})
		}
	}
	if len(ops) > 0 || learned {
		m.stage(model, append([]Op{}, ops...), why)
	}
}

// summary describes in one line what a strategy does, and why.
func (it Iteration) summary() string {
	kinds := make(map[OpKind]int)
	for _, o := range it.Proposal.Ops {
		kinds[o.Kind]++
	}
	var parts []string
	if it.Moves > 0 {
		parts = append(parts, counted(it.Moves, "move")+" of "+counted(it.Items, "item"))
	}
	if n := kinds[OpSplit]; n > 0 {
		parts = append(parts, counted(n, "split"))
	}
	if n := kinds[OpMerge]; n > 0 {
		parts = append(parts, counted(n, "merge"))
	}
	text := it.Strategy + " begins " + strings.Join(parts, ", ")
	for _, r := range it.Proposal.Reasons {
		if r.Op < 0 && r.Slice == 0 {
			return text + ": " + r.Text
		}
	}
	return text
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// consult asks a strategy and checks what it proposes. The resulting model is nil
// when it is refused.
func (m *Mapper) consult(j *judge, s Strategy) (it Iteration, model *Model) {
	it = Iteration{At: j.now, Strategy: s.Name()}
	in := j.in
	in.Memory = m.recall[s.Name()]
	proposal, err := s.Iterate(in)
	if err != nil {
		it.Refused = err.Error()
		return it, nil
	}
	it.Proposal = proposal
	if it.Refused = refuseMemory(proposal.Memory); it.Refused != "" {
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

// foresee computes the bounds and asks the strategies that are not in use.
func (m *Mapper) foresee(j *judge) {
	m.planning.bound = LowerBound(j.in)
	m.planning.leastMove, m.planning.leastShare = LeastMove(j.in, tolerance)
	m.planning.shadows = m.planning.shadows[:0]
	for _, s := range m.cfg.Shadows {
		if s.Name() == m.cfg.Strategy.Name() {
			continue
		}
		it, _ := m.consult(j, s)
		if it.Refused == "" { // durable with the next change: it moves nothing
			m.recall.keep(it.Strategy, it.Proposal.Memory)
		}
		m.planning.shadows = append(m.planning.shadows, Shadow{
			Strategy: it.Strategy, MaxOverMean: it.Proposal.Expected.Ratio(), Moves: it.Moves, Items: it.Items,
			Weight: it.Weight, Share: float64(it.Weight) / float64(max(1, j.weight)), Refused: it.Refused,
		})
	}
}

// remember records the strategy's reasons, also per slice, and adds the causes of
// moves that begin to why.
func (m *Mapper) remember(it Iteration, why causes) {
	m.planning.last = it
	if it.Moves+it.Evacuated > 0 {
		m.planning.idle = 0
	} else if m.planning.idle++; m.planning.idle == 1 {
		m.planning.since = it.At
	}
	for _, r := range it.Proposal.Reasons {
		switch {
		case r.Op < 0 || r.Op >= len(it.Proposal.Ops):
			if r.Slice != 0 {
				m.memory.add(it.At, r.Slice, it.Strategy+" left it: "+r.Text)
			}
		case it.Refused != "":
			o := it.Proposal.Ops[r.Op]
			m.memory.add(it.At, o.Slice, fmt.Sprintf("%s proposed to %s (%s), which was refused: %s", it.Strategy, o, r.Text, it.Refused))
		default:
			why.set(it.Proposal.Ops[r.Op], cause{text: it.Strategy + ": " + r.Text})
		}
	}
	for _, o := range it.Proposal.Ops {
		if why.of(o).text == "" && it.Refused == "" {
			why.set(o, cause{text: it.Strategy + " gave no reason"})
		}
	}
}

// Plan asks the strategy what it would do now, without doing it. Errors:
// fault.Unavailable before the first plan, fault.Conflict when the mapper would
// refuse it.
func (m *Mapper) Plan(now time.Duration) (Proposal, error) {
	now = m.time.at(now)
	if m.model == nil {
		return Proposal{}, m.noPlan()
	}
	it, _ := m.consult(m.judgeNow(now), m.cfg.Strategy)
	if it.Refused != "" {
		return it.Proposal, fault.Newf(fault.Conflict, "balance: plan", "strategy %s: %s", it.Strategy, it.Refused)
	}
	return it.Proposal, nil
}

// Input returns what a strategy would see now, for displays of the placement. It
// must not be used after the next call of the mapper. It returns false if there
// is no model yet.
func (m *Mapper) Input(now time.Duration) (Input, bool) {
	now = m.time.at(now)
	if m.model == nil {
		return Input{}, false
	}
	return m.judgeNow(now).in, true
}

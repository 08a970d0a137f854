package survey

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/mapper"
	"adshard/balance/plan"
	"adshard/balance/transfer"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/shell"
)

// small is the share of the mean below which a slice is not worth a move.
const small = 0.01

// maxHot bounds SliceStory.Hot.
const maxHot = 10

// Facts are what the mapper reports about a slice in addition to the survey.
type Facts struct {
	Flight        *transfer.Flight // nil if it is not being moved
	Events        []api.Event
	Reasons       []string // the strategy's last reasons about it
	Asked         bool     // the strategy has been asked
	Paused        bool
	Away          *mapper.Away  // how long its slave has been lost, and what happens next; nil if the slave still reports
	EvacuateAfter time.Duration // evacuate_after
	Now           time.Time
}

// ReasonsOf returns the strategy's reasons for a slice in an iteration.
func (m *Survey) ReasonsOf(it plan.Iteration, slice uint64) []string {
	out := []string{}
	for _, r := range it.Proposal.Reasons {
		switch {
		case r.Op >= 0 && r.Op < len(it.Proposal.Ops):
			if it.Proposal.Ops[r.Op].Slice == slice {
				out = append(out, m.reason(it.Proposal, r))
			}
		case r.Slice == slice:
			out = append(out, r.Text)
		}
	}
	if len(out) > 0 && it.Refused != "" {
		out = append(out, "the whole proposal was rejected: "+it.Refused)
	}
	return out
}

// Story explains why the slice at an index of the model is where it is.
func (m *Survey) Story(i int, k Facts) *api.SliceStory {
	s, sum := m.In.Model.Slices()[i], m.Sums[i]
	items := load.OfItems(m.In, s, nil)
	slices.SortStableFunc(items, func(a, b load.Item) int { return cmp.Compare(b.Load, a.Load) })
	out := &api.SliceStory{
		Slice: s.ID, Lo: keyText(s.Lo), Hi: keyText(s.Hi), Slave: m.Name(s.Shard), Generation: s.Generation, FromView: s.From,
		Items: uint64(sum.Items), Weight: sum.Weight, Measured: m.ByLoad(), Load: sum.Load,
		ShareOfSlave: ratio(sum.Load, m.shards[s.Shard].Load), ShareOfAll: ratio(sum.Load, m.load),
		SlaveOverMean: m.OverMean(s.Shard, m.Loads[s.Shard]), MaxOverMean: m.Even.Ratio(), LowerBound: m.Bound.MaxOverMean,
		Hot: m.hottest(items, sum.Load), Events: k.Events, Reasons: k.Reasons, Targets: []api.Target{}, Needs: []string{},
	}
	if s.Move.Phase != balance.NoMove {
		m.onItsWay(out, s, k)
		return out
	}
	out.Targets = m.targets(i)
	if k.Away != nil {
		out.Verdict, out.Decision = api.SliceVerdictAway, k.gone(out.Slave)+"; "+k.fate()
		out.Needs = []string{
			fmt.Sprintf("%s must be restarted: with its old `dir` it catches up, with an empty one it is refilled", out.Slave),
			fmt.Sprintf("or fill its slices on other slaves now: `adshard slaves drain %s`", shell.Word(out.Slave)),
		}
		return out
	}
	stuck, why := m.stuck(i, items)
	switch {
	case stuck:
		out.Verdict, out.Decision, out.Needs = api.SliceVerdictStuck, why, m.stuckNeeds(items)
		return out
	case s.From > 1: // the first plan's view is 1
		out.Verdict = api.SliceVerdictMoved
		out.Decision = fmt.Sprintf("it came from another slave in view %d%s", s.From, k.cause())
	default:
		out.Verdict, out.Decision = api.SliceVerdictStayed, m.stayed(s, k)
	}
	if m.In.NoQueries {
		out.Needs = append(out.Needs, "there is nothing to balance until queries arrive")
		return out
	}
	out.Needs = m.needs(i, out.Targets)
	if k.Paused {
		out.Needs = append(out.Needs, "balancing is paused: `adshard balance resume` lets the strategy decide")
	}
	return out
}

// onItsWay explains a slice that is being moved.
func (m *Survey) onItsWay(out *api.SliceStory, s balance.Slice, k Facts) {
	out.Verdict, out.Decision = api.SliceVerdictMoving, m.way(s)
	if k.Flight != nil {
		move := m.Flight(*k.Flight)
		out.Move = &move
		out.Decision += "; why: " + move.Cause
	}
	if k.Away != nil {
		out.Decision += "; " + k.gone(out.Slave)
	}
	out.Needs = append(out.Needs, "nothing: the move ends by itself; one that makes no progress is cancelled")
}

// gone says since when a slave has been lost, and what follows.
func (k *Facts) gone(slave string) string {
	return fmt.Sprintf("%s has been away since %s (%v): until it is back, or another slave serves the slice, answers are incomplete",
		slave, k.Now.Add(-k.Away.For).UTC().Format(time.RFC3339), k.Away.For.Round(time.Second))
}

// fate says what happens to the slices of a lost slave.
func (k *Facts) fate() string {
	switch k.Away.Fate {
	case mapper.Now:
		return "its slices are being filled on other slaves from the database, as `budget` allows"
	case mapper.Stay:
		return "its slices stay with it, since `evacuate_after` is 0"
	case mapper.Paused:
		return "its slices stay with it while balancing is paused: `adshard balance resume` lets them go"
	}
	return fmt.Sprintf("if it is not back in %v (`evacuate_after` is %v), its slices are filled on other slaves from the database",
		k.Away.In.Round(time.Second), k.EvacuateAfter)
}

func (m *Survey) hottest(items []load.Item, all float64) []api.HotItem {
	out := []api.HotItem{}
	for _, v := range items[:min(maxHot, len(items))] {
		if v.Hot {
			out = append(out, m.hotItem(v.Key, v.Load, all))
		}
	}
	return out
}

// way describes where a moving slice goes.
func (m *Survey) way(s balance.Slice) string {
	if s.Move.Phase == balance.Switched {
		return fmt.Sprintf("%s serves it from view %d on; %s goes on answering older ones until all masters have it",
			m.Name(s.Shard), s.From, m.Name(s.Move.Other))
	}
	return fmt.Sprintf("it goes to %s, which has %.2f x the mean with it", m.Name(s.Move.Other), m.OverMean(s.Move.Other, m.Loads[s.Move.Other]))
}

// stuck reports whether the hottest item of a slice alone has more load than any slave should have,
// and explains it. `items` are in descending order of load.
func (m *Survey) stuck(i int, items []load.Item) (bool, string) {
	if len(items) == 0 || m.Even.Mean == 0 || m.ByLoad() && !items[0].Hot && len(items) > 1 {
		return false, "" // the cost of one item among several is not measured
	}
	alone := items[0].Load / m.strongest() / m.Even.Mean
	if alone <= 1+tolerance {
		return false, ""
	}
	rest := "; the slice has no other"
	if m.Sums[i].Items > 1 {
		rest = fmt.Sprintf("; the slice's other %d cost %s and can be split off", m.Sums[i].Items-1, figure(m.Sums[i].Load-items[0].Load))
	}
	return true, fmt.Sprintf("ad group %d alone is %.2f x the mean of a slave, and an ad group is not divided%s", m.In.Order.Item(items[0].Key), alone, rest)
}

// strongest returns the largest relative capacity of an active shard.
func (m *Survey) strongest() float64 {
	most := 1.0
	for _, sh := range m.In.Model.Shards() {
		if sh.State == balance.Active {
			most = max(most, m.share(sh.ID))
		}
	}
	return most
}

func (m *Survey) stuckNeeds(items []load.Item) []string {
	most := m.Even.Mean * m.strongest() * (1 + tolerance)
	return []string{
		fmt.Sprintf("that ad group must cost less than %s, it costs %s: give it fewer keywords, or divide it into two groups", figure(most), figure(items[0].Load)),
		"or give its slave a stronger machine and a larger share (`limits` in the balancer's configuration)",
	}
}

// cause says when the decision for a move was made.
func (k *Facts) cause() string {
	if len(k.Events) == 0 {
		return ", before the first event that the balancer remembers"
	}
	return "; the decision is listed below"
}

// stayed says why a slice was left where it is.
func (m *Survey) stayed(s balance.Slice, k Facts) string {
	over := m.OverMean(s.Shard, m.Loads[s.Shard])
	switch {
	case m.In.NoQueries:
		return "queries have stopped: there is nothing to balance until they resume"
	case len(k.Reasons) > 0:
		return k.Reasons[0]
	case !k.Asked:
		return "the strategy has not been asked since the balancer started"
	case over <= 1+tolerance:
		return fmt.Sprintf("%s has %.2f x the mean, so nothing had to leave it", m.Name(s.Shard), over)
	}
	return fmt.Sprintf("the strategy gave no reason: other slices of %s were the better choice", m.Name(s.Shard))
}

// figure writes a load.
func figure(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.2f", max(0, x))
	}
	return fmt.Sprintf("%.0f", x)
}

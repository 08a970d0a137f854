package node

import (
	"context"
	"time"

	"adshard/balance"
	"adshard/schema/pb"
	"adshard/search"
)

// SlaveStatus is a slave as the balancer sees it.
type SlaveStatus struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	// Registered: it has announced itself to this balancer.
	Registered bool `json:"registered"`
	// SeenMs is how long ago it last asked for node data, in milliseconds.
	SeenMs int64 `json:"seen_ms"`
	// Position is the end of the last bucket it applied, as
	// epoch/clock/quantum/offset; Behind is how many clocks it lacks.
	Position string `json:"position"`
	Behind   uint64 `json:"behind"`
	// Serving, Groups, Keywords, Bytes (on disk) and Trouble are what it says
	// of itself.
	Serving  bool   `json:"serving"`
	Groups   uint64 `json:"groups"`
	Keywords uint64 `json:"keywords"`
	Bytes    uint64 `json:"bytes"`
	Trouble  string `json:"trouble,omitempty"`
	// Slices is how many it has in the model, Width their part of the ring and
	// Weight that of all items' weight, both 0 to 1.
	Slices int     `json:"slices"`
	Width  float64 `json:"width"`
	Weight float64 `json:"weight"`
	// QueuedBytes is what is ready for it here.
	QueuedBytes int `json:"queued_bytes"`
}

// BalancerStatus is how the balancer fares.
type BalancerStatus struct {
	Epoch uint64 `json:"epoch"`
	View  uint64 `json:"view"`
	Clock uint64 `json:"clock"`
	Items int    `json:"items"`
	// Waiting says what the first plan waits for; "" after it.
	Waiting  string `json:"waiting,omitempty"`
	Strategy string `json:"strategy"`
	// Adopted: the slaves brought the plan with them (stores built offline).
	Adopted bool `json:"adopted"`
	// MaxOverMean is how even the items' weights lie on the slaves.
	MaxOverMean float64 `json:"max_over_mean"`
	// Reasons are the strategy's, at most some hundred.
	Reasons []string `json:"reasons,omitempty"`
}

// maxReasons bounds BalancerStatus.Reasons.
const maxReasons = 200

// Status returns how the balancer fares.
func (b *Balancer) Status() BalancerStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	report := b.mapper.Report()
	out := BalancerStatus{
		Epoch: b.Epoch(), Clock: b.mapper.Clock(), Items: b.mapper.Items().Len(), Waiting: b.mapper.Waiting(),
		Strategy: report.Strategy, Adopted: report.Adopted,
	}
	if m := b.mapper.Model(); m != nil {
		out.View = m.View()
		out.MaxOverMean = b.measure(m).even.Ratio()
	}
	for _, r := range report.Proposal.Reasons[:min(maxReasons, len(report.Proposal.Reasons))] {
		out.Reasons = append(out.Reasons, r.Text)
	}
	return out
}

// SlavesList returns all slaves of the model and those that have announced
// themselves, in the order of the model.
func (b *Balancer) SlavesList() []SlaveStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	model := b.mapper.Model()
	var out []SlaveStatus
	listed := make(map[string]bool)
	if model != nil {
		measured := b.measure(model)
		for _, n := range model.Nodes() {
			s := b.slave(n.Name)
			s.Address = n.Address
			t := model.Table(n.ID)
			s.Slices, s.Width = len(t.Slices), widthOf(t)
			s.Weight = measured.share(n.ID)
			listed[n.Name] = true
			out = append(out, s)
		}
	}
	for name := range b.slaves {
		if !listed[name] {
			out = append(out, b.slave(name))
		}
	}
	return out
}

// slave tells what is known of a slave beside the model.
func (b *Balancer) slave(name string) SlaveStatus {
	s := SlaveStatus{Name: name}
	if n, ok := b.slaves[name]; ok {
		s.Registered, s.Position = true, n.position.String()
		s.Behind = b.mapper.Clock() - min(b.mapper.Clock(), n.position.Clock)
		if b.provider != nil {
			s.QueuedBytes = b.provider.queuedBytes(name)
		}
		s.Address, s.SeenMs = n.address, time.Since(n.seen).Milliseconds()
		s.say(n.state)
	}
	return s
}

func (s *SlaveStatus) say(state *pb.SlaveState) {
	s.Serving, s.Trouble = state.GetServing(), state.GetTrouble()
	s.Groups, s.Keywords, s.Bytes = state.GetGroups(), state.GetKeywords(), state.GetBytes()
}

// remeasure is how old a measurement may be: each looks at all items.
const remeasure = 5 * time.Second

// measured is how the items' weights lie on the nodes of a model.
type measured struct {
	model   *balance.Model
	at      time.Time
	even    balance.Evenness
	weights map[balance.NodeID]uint64
	total   uint64
}

// measure returns a measurement that is new enough.
func (b *Balancer) measure(m *balance.Model) *measured {
	if old := b.measured; old != nil && old.model == m && time.Since(old.at) < remeasure {
		return old
	}
	items := b.mapper.Items()
	now := &measured{
		model: m, at: time.Now(), even: balance.Measure(m, items, b.mapper.Limits()),
		weights: make(map[balance.NodeID]uint64),
	}
	list, i := m.Slices(), 0
	items.Ascend(0, balance.MaxKey, func(k balance.Key, w uint32) bool {
		for list[i].Hi < k {
			i++
		}
		now.weights[list[i].Node] += uint64(w)
		now.total += uint64(w)
		return true
	})
	b.measured = now
	return now
}

// share returns a node's part of all weight, 0 to 1.
func (m *measured) share(n balance.NodeID) float64 {
	if m.total == 0 {
		return 0
	}
	return float64(m.weights[n]) / float64(m.total)
}

// widthOf returns the part of the ring that a table covers, 0 to 1.
func widthOf(t balance.Table) float64 {
	var w search.Width
	for _, h := range t.Slices {
		w = w.Add(search.IntervalWidth(uint64(h.Lo), uint64(h.Hi)))
	}
	return float64(w.Hi) + float64(w.Lo)/(1<<32)/(1<<32)
}

// SetBudget marks a campaign's budget as exhausted or not; answers follow
// within a second. Errors: fault.NotFound when there is no such campaign.
func (b *Balancer) SetBudget(ctx context.Context, campaign uint64, exhausted bool) error {
	return b.db.SetBudgetExhausted(ctx, campaign, exhausted)
}

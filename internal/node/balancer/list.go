package balancer

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/slicemap"
	"adshard/schema/pb"
	"adshard/search"
)

// SlaveStatus is the balancer's view of a slave.
type SlaveStatus struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	// Registered says that the slave has registered with this balancer.
	Registered bool `json:"registered"`
	// SeenMs is the time since its last report, in milliseconds.
	SeenMs int64 `json:"seen_ms"`
	// Position is the end of the last bucket that the slave applied, as epoch/clock/quantum/offset;
	// Behind is the number of clocks by which it lags.
	Position string `json:"position"`
	Behind   uint64 `json:"behind"`
	// Serving, Groups, Keywords, Bytes (on disk) and Trouble are from its last report.
	Serving  bool   `json:"serving"`
	Groups   uint64 `json:"groups"`
	Keywords uint64 `json:"keywords"`
	Bytes    uint64 `json:"bytes"`
	Trouble  string `json:"trouble,omitempty"`
	// TroubleKind is the kind of the error in Trouble, or "" if Trouble does not come from an error.
	TroubleKind string `json:"trouble_kind,omitempty"`
	// State is its state in the model. Slices is the number of slices that it serves there, Width
	// their share of the ring, and Weight their share of the weight of all items. Both shares are
	// from 0 to 1.
	State  balance.ShardState `json:"state"`
	Slices int                `json:"slices"`
	Width  float64            `json:"width"`
	Weight float64            `json:"weight"`
	// MovingIn and MovingOut count the slices that are being copied. Load is the load per second,
	// or the weight as long as no load is measured; OverMean is its ratio to the mean.
	MovingIn  int     `json:"moving_in"`
	MovingOut int     `json:"moving_out"`
	Load      float64 `json:"load"`
	OverMean  float64 `json:"over_mean"`
	// Distributor is the address of its distributor, or "" for the balancer's own.
	Distributor string `json:"distributor,omitempty"`
	// Shard is the shard that the slave is a replica of, or "" if it is a spare. WaitsFor is what
	// must happen before masters ask the slave, or "" if they may. Load, Slices and the like are
	// the shard's.
	Shard    string `json:"shard"`
	Zone     string `json:"zone,omitempty"`
	WaitsFor string `json:"waits_for,omitempty"`
	// QueuedBytes is the size of the buckets that this balancer's own distributor has ready for the
	// slave.
	QueuedBytes int `json:"queued_bytes"`
}

// Status is the state of the balancer.
type Status struct {
	Epoch uint64 `json:"epoch"`
	View  uint64 `json:"view"`
	Clock uint64 `json:"clock"`
	Items int    `json:"items"`
	// Waiting says what the first plan is waiting for, or "" once there is one.
	Waiting  string `json:"waiting,omitempty"`
	Strategy string `json:"strategy"`
	// Adopted says that the plan was taken from the slaves (stores built offline).
	Adopted bool `json:"adopted"`
}

// Status returns the state of the balancer.
func (b *Balancer) Status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	st := b.mapper.Status(b.now())
	return Status{
		Epoch: st.Epoch, View: st.View, Clock: st.Clock, Items: b.mapper.Items().Len(), Waiting: st.Waiting,
		Strategy: st.Strategy, Adopted: st.Adopted,
	}
}

// SlavesList returns all slaves of the model by name, then the other slaves
// that have registered, by name.
func (b *Balancer) SlavesList() []SlaveStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	model := b.mapper.Model()
	var out []SlaveStatus
	listed := make(map[string]bool)
	if model != nil {
		seen, serve := b.survey(), slicemap.ByShard(model)
		waits := b.mapper.WaitsFor(b.now())
		for _, at := range model.Slaves() {
			s, id := b.slave(at.Name), at.Shard
			shard, _ := model.Shard(id)
			s.Address, s.Zone, s.Shard, s.State, s.WaitsFor = at.Address, at.Zone, shard.Name, shard.State, waits[at.Name]
			if at.Drained {
				s.State = balance.Drained
			}
			v := serve[id]
			s.Slices, s.MovingIn, s.MovingOut, s.Width = v.Slices, v.In, v.Out, v.Part()
			s.Weight, s.Load, s.OverMean = seen.WeightShare(id), seen.Loads[id], seen.OverMean(id, seen.Loads[id])
			s.Distributor = b.distributorOf(at.Name)
			listed[at.Name] = true
			out = append(out, s)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.slaves)) {
		if !listed[name] {
			out = append(out, b.slave(name))
		}
	}
	return out
}

// slave returns the last report of a slave.
func (b *Balancer) slave(name string) SlaveStatus {
	s := SlaveStatus{Name: name}
	if n, ok := b.slaves[name]; ok {
		s.Registered, s.Position = true, n.position.String()
		s.Behind = b.mapper.Clock() - min(b.mapper.Clock(), n.position.Clock)
		if b.distributor != nil {
			s.QueuedBytes = b.distributor.QueuedBytes(name)
		}
		s.Address, s.SeenMs = n.address, time.Since(n.seen).Milliseconds()
		s.say(n.state)
	}
	return s
}

func (s *SlaveStatus) say(state *pb.SlaveState) {
	s.Serving, s.Trouble = state.GetServing(), state.GetLacking()
	if s.Trouble == "" && state.GetTrouble() != "" {
		s.Trouble, s.TroubleKind = state.GetTrouble(), fault.Kind(min(state.GetTroubleKind(), math.MaxUint8)).String()
	}
	s.Groups, s.Keywords, s.Bytes = state.GetGroups(), state.GetKeywords(), state.GetBytes()
}

// SetBudget marks a campaign's budget. Answers follow within a second; answers to requests that
// name the returned position follow at once. Errors: fault.NotFound if there is no such campaign.
func (b *Balancer) SetBudget(ctx context.Context, campaign uint64, m backend.BudgetMark) (search.Position, error) {
	return setBudget(ctx, b.db, campaign, m)
}

// setBudget does the work of Balancer.SetBudget, on any host. The feed carries the mark to the
// balancer that leads.
func setBudget(ctx context.Context, db backend.Store, campaign uint64, m backend.BudgetMark) (search.Position, error) {
	if err := db.SetBudget(ctx, campaign, m); err != nil {
		return search.Position{}, err
	}
	at, err := db.Newest(ctx) // the mark's position, or that of a later change
	if err != nil {
		return search.Position{}, fmt.Errorf("the budget is set, but the position of the change cannot be read: %w", err)
	}
	return search.Position(at), nil
}

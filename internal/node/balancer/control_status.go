package balancer

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"adshard/balance/mapper"
	"adshard/balance/plan"
	"adshard/balance/verify"
	"adshard/internal/node/history"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/slicemap"
)

// BalanceStatus implements admin.Control.
func (c adminControl) BalanceStatus(ctx context.Context) (*api.BalanceStatus, error) {
	s := c.status()
	if g := s.BoundGroup; g != nil {
		of := api.HotItem{GroupID: g.GroupID}
		c.names.fill(ctx, c.db, []*api.HotItem{&of})
		g.Advertiser, g.Campaign, g.Group = of.Advertiser, of.Campaign, of.Group
	}
	return s, nil
}

// status returns the status without the names of ad groups.
func (c adminControl) status() *api.BalanceStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	st, m := c.mapper.Status(c.now()), c.survey()
	s := &api.BalanceStatus{
		Epoch: st.Epoch, View: st.View, PublishedView: st.Published, Clock: st.Clock, Items: uint64(c.mapper.Items().Len()),
		Strategy: st.Strategy, Options: c.options(), Paused: st.Paused, Waiting: st.Waiting, MaxOverMean: 1, LowerBound: 1,
		Moved:         api.Moved{Moves: st.Moved.Moves, Cancelled: st.Moved.Cancelled, Items: st.Moved.Items, Bytes: st.Moved.Bytes},
		MovesInFlight: []api.SliceMove{}, Slaves: []api.SlaveLoad{}, Shadows: predictions(st.Shadows),
		Events: c.events(), Distributors: c.listDistributors(), Masters: []api.MasterInfo{}, IgnoredLoads: st.IgnoredLoads,
		Replicas: c.mapper.Replicas(), Revision: st.Revision,
	}
	c.masterReports.addTo(c.now(), s, st.Masters)
	s.Copies = copies(st.Slaves)
	s.Scrub = scrubStatus(st.Scrub)
	if s.IgnoredLoads == nil {
		s.IgnoredLoads = map[string]uint64{}
	}
	if m == nil {
		return s
	}
	s.Slices, s.Measured, s.Last = len(m.Sums), m.ByLoad(), m.Iteration(st, c.now())
	s.MaxOverMean, s.LowerBound, s.BoundWhy = m.Even.Ratio(), m.Bound.MaxOverMean, m.Bound.Why
	if m.Bound.Item != 0 {
		s.BoundGroup = &api.GroupName{GroupID: m.In.Order.Item(m.Bound.Item)}
	}
	s.Idle = m.In.NoQueries
	s.LeastMove = api.LeastMove{Weight: m.LeastWeight, Share: m.LeastShare}
	for _, f := range st.InFlight {
		s.MovesInFlight = append(s.MovesInFlight, m.Flight(f))
	}
	serve := slicemap.ByShard(c.mapper.Model())
	for _, n := range st.Shards {
		s.Slaves = append(s.Slaves, m.Slave(n, serve))
	}
	slices.SortFunc(s.Slaves, func(a, b api.SlaveLoad) int { return cmp.Compare(a.Name, b.Name) })
	return s
}

// copies lists the slaves that are copying a sibling's store, with their progress.
func copies(slaves []mapper.SlaveStatus) []api.Copy {
	out := []api.Copy{}
	for _, s := range slaves {
		if c := s.Copying; c != nil {
			left, _ := c.Left()
			out = append(out, api.Copy{Slave: s.Name, Source: c.Source, Bytes: c.Bytes, Total: c.Total, PerSecond: c.PerSecond, LeftMs: left.Milliseconds()})
		}
	}
	return out
}

// scrubStatus returns the state of scrubbing.
func scrubStatus(s verify.Scrub) api.Scrub {
	out := api.Scrub{
		IntervalMs: s.Interval.Milliseconds(), Running: s.Running, Progress: s.Progress, Passes: s.Passes,
		Differences: s.Differences, Unlike: s.Unlike, Condemned: []api.Condemned{}, Rechecks: []api.Recheck{},
		Last: api.ScrubPass{
			AgeMs: s.LastAgo.Milliseconds(), TookMs: s.Last.Took.Milliseconds(), SpentMs: s.Last.Spent.Milliseconds(),
			Items: s.Last.Items, Parts: s.Last.Parts, Different: s.Last.Different, Left: s.Last.Left, Unlike: s.Last.Unlike,
		},
	}
	for _, c := range s.Condemned {
		out.Condemned = append(out.Condemned, api.Condemned{Slave: c.Slave, Slice: c.Slice, Reason: c.Reason, AgeMs: c.For.Milliseconds()})
	}
	for _, r := range s.Rechecks {
		out.Rechecks = append(out.Rechecks, api.Recheck{Slave: r.Slave, Slices: r.Slices, Compared: r.Compared})
	}
	return out
}

func predictions(list []plan.Shadow) []api.Prediction {
	out := []api.Prediction{}
	for _, s := range list {
		out = append(out, api.Prediction{
			Strategy: s.Strategy, MaxOverMean: s.MaxOverMean, Moves: s.Moves, Items: uint64(s.Items), Weight: s.Weight, Share: s.Share, Failed: s.Refused,
		})
	}
	return out
}

// options returns the options that are set for the strategy in use. The caller holds b.mu.
func (c adminControl) options() map[string]string {
	set := c.cfg.StrategyOptions
	if c.steering.byCommand {
		set = c.steering.options
	}
	out := maps.Clone(set)
	if out == nil {
		out = map[string]string{}
	}
	return out
}

// events returns the latest events, newest first. The caller holds b.mu.
func (c adminControl) events() []api.Event {
	out := []api.Event{}
	for _, e := range slices.Backward(c.steering.events) {
		text := e.Text
		if e.Name != "" {
			text = e.Name + ": " + text
		}
		out = append(out, api.Event{AgeMs: time.Since(e.at).Milliseconds(), Slice: e.Slice, Text: text})
	}
	return out
}

// listDistributors returns all distributors by name. The caller holds b.mu.
func (c adminControl) listDistributors() []api.DistributorInfo {
	out := []api.DistributorInfo{}
	slaves := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(c.slaves)) {
		if address, err := c.distributorFor(name); err == nil {
			slaves[address] = append(slaves[address], name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.distributors)) {
		d := c.distributors[name]
		v := api.DistributorInfo{Name: name, Address: d.address, Alive: d.alive(time.Now()), Clock: d.clock, Slaves: []string{}}
		if v.Alive {
			v.Slaves = append(v.Slaves, slaves[d.address]...)
		}
		out = append(out, v)
	}
	return out
}

// BalanceHistory implements admin.Control.
func (c adminControl) BalanceHistory(context.Context) (*api.BalanceHistory, error) {
	now := time.Now()
	out := &api.BalanceHistory{IntervalMs: history.Interval.Milliseconds(), Points: []api.HistoryPoint{}}
	for _, p := range c.history.List(now) {
		v := api.HistoryPoint{AgeMs: max(0, now.Sub(p.At).Milliseconds()), Traffic: trafficMessage(p.Traffic), MaxOverMean: p.MaxOverMean, LowerBound: p.Bound, Shadows: p.Shadows}
		out.Points = append(out.Points, v)
	}
	return out, nil
}

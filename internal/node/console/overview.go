package console

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"adshard/internal/node/httpapi/api"
)

// overview is the content of the page on the state of the cluster.
type overview struct {
	Status *api.BalanceStatus
	Health health
	Shards []shard
	Spares []replica
	Totals totals
	Charts []*chart
	// DeadlineMs is the shortest time limit of the masters, or 0 if none has reported one.
	DeadlineMs uint64
}

// health is the state of the cluster in one line. Level is good, warn (answers are complete, but
// something needs attention) or bad (answers are incomplete).
type health struct {
	Level, Text string
	Trouble     []string
}

// shard is a shard with its replicas.
type shard struct {
	api.SlaveLoad
	Members []replica
	// Whole says that at least one of the replicas answers in full.
	Whole bool
}

// replica is a slave. Word says what state it is in, and Level how bad that is; Behind counts the
// changes that it has yet to apply.
type replica struct {
	api.Slave
	Word, Level string
	Behind      uint64
}

// totals are sums over all slaves, except Behind, which is the largest lag.
type totals struct {
	Bytes, Behind uint64
	Slaves, Away  int
}

func (c *Console) overview(w http.ResponseWriter, r *http.Request) {
	o, err := c.lookOver(r)
	if err != nil {
		c.refusedBy(w, r, err)
		return
	}
	c.show(w, r, http.StatusOK, "overview", page{Title: "Overview", Refresh: refresh, Content: o})
}

func (c *Console) lookOver(r *http.Request) (*overview, error) {
	status, err := get[api.BalanceStatus](c, r, "/v1/balance")
	if err != nil {
		return nil, err
	}
	list, err := get[api.SlaveList](c, r, "/v1/slaves")
	if err != nil {
		return nil, err
	}
	past, err := get[api.BalanceHistory](c, r, "/v1/balance/history")
	if err != nil {
		return nil, err
	}
	o := newOverview(status, list)
	now := time.Now()
	o.Charts = slices.DeleteFunc(append(trafficCharts(past, now), balanceChart(past, now, false)), func(c *chart) bool { return c == nil })
	return o, nil
}

func newOverview(status *api.BalanceStatus, list *api.SlaveList) *overview {
	o := &overview{Status: status, DeadlineMs: deadline(status.Masters)}
	of := make(map[string][]replica)
	for _, s := range list.Slaves {
		m := newReplica(s, list.Clock)
		o.Totals.add(&m)
		switch {
		case s.Shard != "":
			of[s.Shard] = append(of[s.Shard], m)
		case status.Replicas > 1 || !slices.ContainsFunc(status.Slaves, func(n api.SlaveLoad) bool { return n.Name == s.Name }):
			o.Spares = append(o.Spares, m)
		default:
			of[s.Name] = append(of[s.Name], m)
		}
	}
	for _, n := range status.Slaves {
		s := shard{SlaveLoad: n, Members: of[n.Name]}
		s.Whole = n.State == api.SlaveStateDrained || slices.ContainsFunc(s.Members, func(m replica) bool { return m.Alive && m.Serving })
		o.Shards = append(o.Shards, s)
	}
	slices.SortStableFunc(o.Shards, func(a, b shard) int { return cmp.Compare(b.OverMean, a.OverMean) })
	o.Health = o.health()
	return o
}

// deadline returns the shortest time limit of masters, or 0 if none has reported one.
func deadline(masters []api.MasterInfo) (ms uint64) {
	for _, m := range masters {
		if ms == 0 || m.TimeoutMs > 0 && m.TimeoutMs < ms {
			ms = m.TimeoutMs
		}
	}
	return ms
}

func (t *totals) add(m *replica) {
	t.Slaves++
	if !m.Alive {
		t.Away++
	}
	t.Bytes, t.Behind = t.Bytes+m.Bytes, max(t.Behind, m.Behind)
}

// newReplica judges the state of a slave.
func newReplica(s api.Slave, clock uint64) replica {
	m := replica{Slave: s, Behind: clock - min(clock, s.AppliedClock), Word: "serving", Level: "good"}
	switch {
	case !s.Alive && s.SeenMs == nil:
		m.Word, m.Level = "away: it has not reported to this balancer", "bad"
	case !s.Alive:
		m.Word, m.Level = "away, last seen "+ago(*s.SeenMs), "bad"
	case s.State == api.SlaveStateDrained:
		m.Word = "drained"
	case !s.Serving:
		m.Word, m.Level = "being filled", "warn"
	case s.Trouble != "":
		m.Word, m.Level = "in trouble", "warn"
	case s.State == api.SlaveStateDraining:
		m.Word, m.Level = "draining", "warn"
	case s.WaitsFor != "":
		m.Word, m.Level = "waiting", "warn"
	}
	return m
}

// health judges whether answers are complete, and lists what needs attention. Answers are
// incomplete if any shard has no replica that answers in full.
func (o *overview) health() health {
	if o.Status.Waiting != "" {
		return health{Level: "bad", Text: "There is no plan yet: " + o.Status.Waiting}
	}
	var lost, cares []string
	for _, s := range o.Shards {
		if !s.Whole && s.Slices > 0 {
			lost = append(lost, s.Name+" has no replica that answers in full")
		}
		cares = append(cares, troubles(s.Members)...)
	}
	cares = append(cares, troubles(o.Spares)...)
	if o.Status.Paused {
		cares = append(cares, "balancing is paused")
	}
	for _, v := range o.Status.Scrub.Condemned {
		cares = append(cares, fmt.Sprintf("%s has to discard slice %d: its copy differs from the database", v.Slave, v.Slice))
	}
	switch {
	case len(lost) > 0:
		return health{Level: "bad", Text: "Answers are incomplete", Trouble: append(lost, cares...)}
	case len(cares) > 0:
		return health{Level: "warn", Text: "Answers are complete, but something needs attention", Trouble: cares}
	}
	return health{Level: "good", Text: "Answers are complete"}
}

// troubles lists what is wrong with slaves.
func troubles(list []replica) (out []string) {
	for _, m := range list {
		switch {
		case m.Level == "good":
		case m.Trouble != "":
			out = append(out, m.Name+" is "+m.Word+" ("+m.Trouble+")")
		case m.WaitsFor != "":
			out = append(out, m.Name+" is "+m.Word+" ("+m.WaitsFor+")")
		default:
			out = append(out, m.Name+" is "+m.Word)
		}
	}
	return out
}

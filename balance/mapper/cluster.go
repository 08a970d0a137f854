package mapper

import (
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/load"
)

// cluster is what is known of the cluster: the newest durable model, the items, and what
// slaves last reported. The mapper keeps it up to date, and its machines read it.
type cluster struct {
	cfg    Config
	time   clockwork
	model  *balance.Model // newest durable; nil before the first plan
	items  *balance.Index
	clock  uint64 // of the newest change of an item seen
	nodes  map[string]*nodeInfo
	loads  *load.Table
	loaded bool // items are all there
	// paused: balancing was paused by an operator.
	paused bool
}

func newCluster(cfg Config, items *balance.Index) *cluster {
	return &cluster{cfg: cfg, items: items, nodes: map[string]*nodeInfo{}, loads: load.NewTable(cfg.LoadWeights, cfg.HalfLife)}
}

// node returns the state of a node; a new one counts as heard from now.
func (c *cluster) node(name string) *nodeInfo {
	n := c.nodes[name]
	if n == nil {
		n = &nodeInfo{heard: c.time.now}
		c.nodes[name] = n
	}
	return n
}

// alive reports whether a node of the model was heard from recently.
func (c *cluster) alive(name string, now time.Duration) bool {
	n := c.nodes[name]
	return n != nil && now < n.heard+c.cfg.DeadAfter
}

// heardLately reports whether a node was heard from so recently that it may become the only replica
// of its shard. One that counts as alive may have died most of DeadAfter ago, and then no replica
// would answer.
func (c *cluster) heardLately(name string, now time.Duration) bool {
	n := c.nodes[name]
	return n != nil && now < n.heard+min(c.cfg.DeadAfter, c.cfg.Report*5/2)
}

// name returns the name of a node of the model.
func (c *cluster) name(id balance.NodeID) string {
	n, _ := c.model.Node(id)
	return n.Name
}

// slice returns a slice of the model by its number.
func (c *cluster) slice(id uint64) (balance.Slice, bool) {
	i := slices.IndexFunc(c.model.Slices(), func(s balance.Slice) bool { return s.ID == id })
	if i < 0 {
		return balance.Slice{}, false
	}
	return c.model.Slices()[i], true
}

// has reports whether a node holds all of an interval according to its last report,
// or has not reported yet.
func (c *cluster) has(node string, v balance.Interval) bool {
	n := c.nodes[node]
	return n == nil || !n.reported || balance.Covers(n.table.In(balance.Full), v)
}

// serves reports whether a node has reported that it serves a slice of the model.
func (c *cluster) serves(node string, v balance.Slice) bool {
	n := c.nodes[node]
	if n == nil || !n.reported {
		return false
	}
	for _, h := range n.table.Slices {
		if h.ID == v.ID && h.Generation == v.Generation {
			return h.State == balance.Full && h.From != 0 && h.Lo == v.Lo && h.Hi == v.Hi
		}
	}
	return false
}

// ranks returns how many slaves the largest set has: a pass compares the first of
// each set over the whole ring, then the second.
func (c *cluster) ranks() int {
	most := 1
	for _, n := range c.model.Nodes() {
		most = max(most, len(c.model.Set(n.ID)))
	}
	return most
}

// ranked returns the slave of a set with this rank.
func (c *cluster) ranked(id balance.NodeID, rank int) (name string, there bool) {
	set := c.model.Set(id)
	if rank >= len(set) {
		return "", false
	}
	return set[rank].Name, true
}

// asked returns the nodes that queries go to: those that are alive and serve
// something.
func (c *cluster) asked(now time.Duration) (out []balance.NodeID) {
	serves := make(map[balance.NodeID]bool, len(c.model.Nodes()))
	for _, s := range c.model.Slices() {
		serves[s.Node] = true
	}
	for _, n := range c.model.Nodes() {
		if serves[n.ID] && c.up(n.ID, now) {
			out = append(out, n.ID)
		}
	}
	return out
}

// timeOfDay is what the clock of the caller shows.
func (c *cluster) timeOfDay() time.Time { return c.cfg.Began.Add(c.time.last) }

func (c *cluster) limits(model *balance.Model) map[balance.NodeID]balance.Limit {
	return balance.LimitsOf(model, c.cfg.Limits)
}

// complete reports whether a slave has all that its shard serves.
func (c *cluster) complete(s balance.Slave) bool {
	n := c.nodes[s.Name]
	if n == nil || !n.reported {
		return false
	}
	if n.whole.of != c.model {
		full := n.table.In(balance.Full)
		lacks := slices.ContainsFunc(c.model.Table(s.Node).Slices, func(h balance.Held) bool {
			return h.From != 0 && !balance.Covers(full, balance.Interval{Lo: h.Lo, Hi: h.Hi})
		})
		n.whole = whole{of: c.model, yes: !lacks}
	}
	return n.whole.yes
}

// weight returns the weight of the items in an interval.
func (c *cluster) weight(v balance.Interval) (sum uint64) {
	c.items.Ascend(v.Lo, v.Hi, func(_ balance.Key, w uint32) bool { sum += uint64(w); return true })
	return sum
}

// answers reports whether queries need a slave: it is in the set of a shard that is
// not drained, and alive.
func (c *cluster) answers(s balance.Slave, now time.Duration) bool {
	return c.model.Asked(s) && c.alive(s.Name, now)
}

// measured returns the current load of a slice, or the weight of its items.
func (c *cluster) measured(s balance.Slice) (load float64) {
	if rate := c.loads.Rate(s.ID); rate > 0 {
		return rate
	}
	c.items.Ascend(s.Lo, s.Hi, func(_ balance.Key, w uint32) bool { load += float64(w); return true })
	return load
}

// hurries reports whether somebody waits for all that moves from a node.
func (c *cluster) hurries(from balance.NodeID, now time.Duration) bool {
	n, _ := c.model.Node(from)
	return c.paused || n.State == balance.Draining || n.State == balance.Dissolving || !c.up(from, now)
}

// nodeInfo is the mapper's state of a node outside of the model.
type nodeInfo struct {
	id          balance.NodeID // of its shard; 0: it has none
	heard       time.Duration  // time of the last message
	incarnation string
	position    balance.Position
	table       balance.Table
	reported    bool // its table, at least once
	trouble     string
	troubled    time.Duration // since when
	bytes       uint64
	moved       time.Duration // when table or offset last changed: it is being filled
	// caughtUp is when it last had applied all changes up to target, the newest of
	// the report before.
	caughtUp time.Duration
	target   uint64
	copying  *CopyState
	whole    whole
}

// whole is whether a slave has all that its shard serves in a model, by its last table.
type whole struct {
	of  *balance.Model
	yes bool
}

// setTable records what a slave has reported that it holds, and reports whether that has changed.
func (n *nodeInfo) setTable(now time.Duration, t balance.Table) (changed bool) {
	if changed = !n.reported || !n.table.Equal(t); changed {
		n.moved, n.whole = now, whole{}
	}
	n.table, n.reported = t, true
	return changed
}

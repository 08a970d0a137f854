package cluster

import (
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/load"
)

// Cluster is what is known of the cluster: the newest durable model, the items, and what
// slaves last reported. The mapper keeps it up to date, and its machines read it.
type Cluster struct {
	Config Config
	Time   clockwork
	Model  *balance.Model // newest durable; nil before the first plan
	Items  *balance.Index
	Clock  uint64 // of the newest change of an item seen
	Slaves map[string]*Slave
	Loads  *load.Table
	Loaded bool // items are all there
	// Paused: balancing was paused by an operator.
	Paused bool
}

// New returns a cluster without slaves.
func New(cfg Config, items *balance.Index) *Cluster {
	return &Cluster{Config: cfg, Items: items, Slaves: map[string]*Slave{}, Loads: load.NewTable(cfg.LoadWeights, cfg.HalfLife)}
}

// Slave returns the state of a slave; a new one counts as heard from now.
func (c *Cluster) Slave(name string) *Slave {
	n := c.Slaves[name]
	if n == nil {
		n = &Slave{Heard: c.Time.Now}
		c.Slaves[name] = n
	}
	return n
}

// Alive reports whether a slave of the model was heard from recently.
func (c *Cluster) Alive(name string, now time.Duration) bool {
	n := c.Slaves[name]
	return n != nil && now < n.Heard+c.Config.DeadAfter
}

// HeardLately reports whether a slave was heard from so recently that it may become the only replica
// of its shard. One that counts as alive may have died most of DeadAfter ago, and then no replica
// would answer.
func (c *Cluster) HeardLately(name string, now time.Duration) bool {
	n := c.Slaves[name]
	return n != nil && now < n.Heard+min(c.Config.DeadAfter, c.Config.Report*5/2)
}

// Name returns the name of a shard.
func (c *Cluster) Name(id balance.ShardID) string {
	sh, _ := c.Model.Shard(id)
	return sh.Name
}

// Slice returns a slice of the model by its number.
func (c *Cluster) Slice(id uint64) (balance.Slice, bool) {
	i := slices.IndexFunc(c.Model.Slices(), func(s balance.Slice) bool { return s.ID == id })
	if i < 0 {
		return balance.Slice{}, false
	}
	return c.Model.Slices()[i], true
}

// Has reports whether a slave holds all of an interval according to its last report,
// or has not reported yet.
func (c *Cluster) Has(slave string, v balance.Interval) bool {
	n := c.Slaves[slave]
	return n == nil || !n.Reported || balance.Covers(n.Table.In(balance.Full), v)
}

// Serves reports whether a slave has reported that it serves a slice of the model.
func (c *Cluster) Serves(slave string, v balance.Slice) bool {
	n := c.Slaves[slave]
	if n == nil || !n.Reported {
		return false
	}
	for _, h := range n.Table.Slices {
		if h.ID == v.ID && h.Generation == v.Generation {
			return h.State == balance.Full && h.From != 0 && h.Lo == v.Lo && h.Hi == v.Hi
		}
	}
	return false
}

// Ranks returns how many slaves the largest set has: a pass compares the first of
// each set over the whole ring, then the second.
func (c *Cluster) Ranks() int {
	most := 1
	for _, sh := range c.Model.Shards() {
		most = max(most, len(c.Model.Set(sh.ID)))
	}
	return most
}

// Ranked returns the slave of a set with this rank.
func (c *Cluster) Ranked(id balance.ShardID, rank int) (name string, there bool) {
	set := c.Model.Set(id)
	if rank >= len(set) {
		return "", false
	}
	return set[rank].Name, true
}

// Asked returns the shards that queries go to: those that are alive and serve
// something.
func (c *Cluster) Asked(now time.Duration) (out []balance.ShardID) {
	serves := make(map[balance.ShardID]bool, len(c.Model.Shards()))
	for _, s := range c.Model.Slices() {
		serves[s.Shard] = true
	}
	for _, sh := range c.Model.Shards() {
		if serves[sh.ID] && c.Up(sh.ID, now) {
			out = append(out, sh.ID)
		}
	}
	return out
}

// TimeOfDay is what the clock of the caller shows.
func (c *Cluster) TimeOfDay() time.Time { return c.Config.Began.Add(c.Time.last) }

// Limits returns how much each shard of a model may hold.
func (c *Cluster) Limits(model *balance.Model) map[balance.ShardID]balance.Limit {
	return balance.LimitsOf(model, c.Config.Limits)
}

// Complete reports whether a slave has all that its shard serves.
func (c *Cluster) Complete(s balance.Slave) bool {
	n := c.Slaves[s.Name]
	if n == nil || !n.Reported {
		return false
	}
	if n.whole.of != c.Model {
		full := n.Table.In(balance.Full)
		lacks := slices.ContainsFunc(c.Model.Table(s.Shard).Slices, func(h balance.Held) bool {
			return h.From != 0 && !balance.Covers(full, balance.Interval{Lo: h.Lo, Hi: h.Hi})
		})
		n.whole = whole{of: c.Model, yes: !lacks}
	}
	return n.whole.yes
}

// Weight returns the weight of the items in an interval.
func (c *Cluster) Weight(v balance.Interval) (sum uint64) {
	c.Items.Ascend(v.Lo, v.Hi, func(_ balance.Key, w uint32) bool { sum += uint64(w); return true })
	return sum
}

// Answers reports whether queries need a slave: it is in the set of a shard that is
// not drained, and alive.
func (c *Cluster) Answers(s balance.Slave, now time.Duration) bool {
	return c.Model.Asked(s) && c.Alive(s.Name, now)
}

// Measured returns the current load of a slice, or the weight of its items.
func (c *Cluster) Measured(s balance.Slice) (load float64) {
	if rate := c.Loads.Rate(s.ID); rate > 0 {
		return rate
	}
	c.Items.Ascend(s.Lo, s.Hi, func(_ balance.Key, w uint32) bool { load += float64(w); return true })
	return load
}

// Hurries reports whether something waits for all that moves from a shard.
func (c *Cluster) Hurries(from balance.ShardID, now time.Duration) bool {
	sh, _ := c.Model.Shard(from)
	return c.Paused || sh.State == balance.Draining || sh.State == balance.Dissolving || !c.Up(from, now)
}

// Slave is the mapper's state of a slave outside of the model.
type Slave struct {
	Id          balance.ShardID // of its shard; 0: it has none
	Heard       time.Duration   // time of the last message
	Incarnation string
	Position    balance.Position
	Table       balance.Table
	Reported    bool // its table, at least once
	Trouble     string
	Troubled    time.Duration // since when
	Bytes       uint64
	Moved       time.Duration // when table or offset last changed: it is being filled
	// CaughtUp is when it last had applied all changes up to target, the newest of
	// the report before.
	CaughtUp time.Duration
	Target   uint64
	Copying  *CopyState
	whole    whole
}

// whole is whether a slave has all that its shard serves in a model, by its last table.
type whole struct {
	of  *balance.Model
	yes bool
}

// SetTable records what a slave has reported that it holds, and reports whether that has changed.
func (n *Slave) SetTable(now time.Duration, t balance.Table) (changed bool) {
	if changed = !n.Reported || !n.Table.Equal(t); changed {
		n.Moved, n.whole = now, whole{}
	}
	n.Table, n.Reported = t, true
	return changed
}

// CopyState is how far a slave's copy of a sibling's store has come.
type CopyState struct {
	Source string
	// Bytes of Total are there; Total 0: it is not known yet. PerSecond is the rate.
	Bytes, Total, PerSecond uint64
}

// Left returns how long the rest takes at that rate; false: it is not known.
func (c *CopyState) Left() (left time.Duration, known bool) {
	if c.Total == 0 || c.PerSecond == 0 {
		return 0, false
	}
	return time.Duration(float64(c.Total-min(c.Total, c.Bytes)) / float64(c.PerSecond) * float64(time.Second)), true
}

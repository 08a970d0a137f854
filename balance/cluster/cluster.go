package cluster

import (
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/load"
)

// Cluster is the known state of the cluster: the newest durable model, the items, and what slaves
// last reported. The mapper keeps it up to date, and its machines read it.
type Cluster struct {
	Config Config
	Time   clockwork
	Model  *balance.Model // the newest durable model; nil before the first plan
	Items  *balance.Index
	Clock  uint64 // the clock of the newest change of an item seen
	Slaves map[string]*Slave
	Loads  *load.Table
	Loaded bool // all items are there
	// Paused says that an operator has paused balancing.
	Paused bool
}

// New returns a cluster without slaves.
func New(cfg Config, items *balance.Index) *Cluster {
	return &Cluster{Config: cfg, Items: items, Slaves: map[string]*Slave{}, Loads: load.NewTable(cfg.LoadWeights, cfg.HalfLife)}
}

// Slave returns the state of a slave. A new slave is treated as heard from just now.
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

// HeardLately reports whether a slave was heard from so recently that it may become the only
// replica of its shard. Alive is not enough for that: the slave may have died almost DeadAfter
// ago, and then no replica would answer.
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

// Ranks returns the number of slaves in the largest set. A pass over the whole ring compares the
// first slave of each set; the next pass compares the second, and so on.
func (c *Cluster) Ranks() int {
	most := 1
	for _, sh := range c.Model.Shards() {
		most = max(most, len(c.Model.Set(sh.ID)))
	}
	return most
}

// Ranked returns the name of the slave with this rank in a set; there is false if the set is
// smaller.
func (c *Cluster) Ranked(id balance.ShardID, rank int) (name string, there bool) {
	set := c.Model.Set(id)
	if rank >= len(set) {
		return "", false
	}
	return set[rank].Name, true
}

// Asked returns the shards that queries go to: those that are alive and have slices.
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

// TimeOfDay returns the time of day by the caller's clock.
func (c *Cluster) TimeOfDay() time.Time { return c.Config.Began.Add(c.Time.last) }

// Limits returns the limits of each shard of a model.
func (c *Cluster) Limits(model *balance.Model) map[balance.ShardID]balance.Limit {
	return balance.LimitsOf(model, c.Config.Limits)
}

// Complete reports whether a slave has all slices that its shard serves.
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

// Answers reports whether queries need a slave: whether it is alive and in the set of a shard
// that is not drained.
func (c *Cluster) Answers(s balance.Slave, now time.Duration) bool {
	return c.Model.Asked(s) && c.Alive(s.Name, now)
}

// Measured returns the current load of a slice, or the weight of its items if no load is known.
func (c *Cluster) Measured(s balance.Slice) (load float64) {
	if rate := c.Loads.Rate(s.ID); rate > 0 {
		return rate
	}
	c.Items.Ascend(s.Lo, s.Hi, func(_ balance.Key, w uint32) bool { load += float64(w); return true })
	return load
}

// Hurries reports whether moves away from a shard are urgent, because an operator or lost data
// wait for them.
func (c *Cluster) Hurries(from balance.ShardID, now time.Duration) bool {
	sh, _ := c.Model.Shard(from)
	return c.Paused || sh.State == balance.Draining || sh.State == balance.Dissolving || !c.Up(from, now)
}

// Slave is the mapper's state of a slave that is not part of the model.
type Slave struct {
	Id          balance.ShardID // of its shard; 0 if it has none
	Heard       time.Duration   // when its last message came
	Incarnation string
	Position    balance.Position
	Table       balance.Table
	Reported    bool // whether it has reported its table
	Trouble     string
	Troubled    time.Duration // since when it has its trouble
	Bytes       uint64
	Moved       time.Duration // when its table or offset last changed
	// CaughtUp is when the slave last had all changes up to Target, the clock of the newest
	// change at an earlier report.
	CaughtUp time.Duration
	Target   uint64
	Copying  *CopyState
	whole    whole
}

// whole caches whether a slave, by its last table, has all slices that its shard serves in a
// model.
type whole struct {
	of  *balance.Model
	yes bool
}

// SetTable records the table that a slave has reported, and reports whether it has changed.
func (n *Slave) SetTable(now time.Duration, t balance.Table) (changed bool) {
	if changed = !n.Reported || !n.Table.Equal(t); changed {
		n.Moved, n.whole = now, whole{}
	}
	n.Table, n.Reported = t, true
	return changed
}

// CopyState is the progress of a slave's copy of a sibling's store.
type CopyState struct {
	Source string
	// Bytes is the number of bytes copied, of Total; Total is 0 if it is not known yet. PerSecond
	// is the rate.
	Bytes, Total, PerSecond uint64
}

// Left returns how long the rest of the copy takes at that rate; known is false if that is not
// known.
func (c *CopyState) Left() (left time.Duration, known bool) {
	if c.Total == 0 || c.PerSecond == 0 {
		return 0, false
	}
	return time.Duration(float64(c.Total-min(c.Total, c.Bytes)) / float64(c.PerSecond) * float64(time.Second)), true
}

package cluster

import (
	"cmp"
	"time"

	"adshard/balance"
	"adshard/balance/load"
)

// Config configures a Mapper. WithDefaults replaces zero fields by defaults, if they have any.
type Config struct {
	Epoch uint64
	Order balance.Order
	// Began is the time of day when the caller's time was 0.
	Began time.Time
	// Slaves is the number of slaves that must have joined before the first plan.
	Slaves int
	// Replicas is the number of slaves that hold each slice; 0 means 1. After SetReplicas, the
	// number set there is used until Replicas is changed.
	Replicas int
	Strategy balance.Strategy
	// Shadows are strategies that run whenever Strategy runs, on the same input, but whose
	// proposals are not executed. A shadow with Strategy's name is left out.
	Shadows []balance.Strategy
	// Limits has the limits of slaves, by name.
	Limits map[string]balance.Limit
	// Budget limits how much may be moving at once because of iterations.
	Budget balance.Budget
	// Pace is the least time between two quanta. Beat is the greatest time between them, and
	// so the longest time that a change waits. Interval is the time between two iterations of
	// the strategy; 0 means that there are none. Even then, shards that drain or are lost are
	// emptied.
	Pace, Beat, Interval time.Duration
	// DeadAfter is how long after its last report a slave is considered lost: from then on
	// nothing waits for it. After EvacuateAfter its slices go to other shards; 0 means never.
	DeadAfter, EvacuateAfter time.Duration
	// Report is the time between two reports of a slave. A slave that has missed two reports
	// is not relied on as the last replica of its shard, although it is not considered lost
	// yet.
	Report time.Duration
	// Stall is the time without progress after which a move is cancelled.
	Stall time.Duration
	// MasterLease is how long after its last call a master may still use its view; after that,
	// slaves reject the view. Linger is the duration of the longest query.
	MasterLease, Linger time.Duration
	// Scrub is the time between two passes that compare all data served by slaves with the
	// source of truth; 0 means that there are no passes. ScrubShare is the share of one
	// processor that they may use.
	Scrub      time.Duration
	ScrubShare float64
	// LoadWeights and HalfLife are parameters of the load.Table.
	LoadWeights load.Weights
	HalfLife    time.Duration
}

// The defaults of Config.
const (
	DefaultPace          = 10 * time.Millisecond
	DefaultBeat          = 200 * time.Millisecond
	DefaultInterval      = 10 * time.Second
	DefaultDeadAfter     = 10 * time.Second
	DefaultEvacuateAfter = 5 * time.Minute
	DefaultReport        = time.Second
	DefaultStall         = time.Minute
	DefaultMasterLease   = 15 * time.Second
	DefaultLinger        = 5 * time.Second
	DefaultScrub         = 24 * time.Hour
	DefaultScrubShare    = 0.01
	// DefaultBudget is the share of all items that weighted-move of Slicer moves at most (Adya
	// et al., OSDI 2016, 4.4). A Config whose Budget is 0 has no limit.
	DefaultBudget = 0.09
)

// WithDefaults returns the configuration with zero fields replaced by their defaults.
func (c Config) WithDefaults() Config {
	c.Replicas = max(1, c.Replicas)
	c.Pace = cmp.Or(c.Pace, DefaultPace)
	c.Beat = cmp.Or(c.Beat, DefaultBeat)
	c.DeadAfter = cmp.Or(c.DeadAfter, DefaultDeadAfter)
	c.Report = cmp.Or(c.Report, DefaultReport)
	c.Stall = cmp.Or(c.Stall, DefaultStall)
	c.MasterLease = cmp.Or(c.MasterLease, DefaultMasterLease)
	c.Linger = cmp.Or(c.Linger, DefaultLinger)
	c.ScrubShare = cmp.Or(c.ScrubShare, DefaultScrubShare)
	return c
}

// IntervalOrDefault returns the time between two iterations, or the default if there are no
// iterations.
func (c *Config) IntervalOrDefault() time.Duration {
	return cmp.Or(c.Interval, DefaultInterval)
}

// clockwork makes time monotonic and free of jumps. If the process was stopped or its clock
// was set, the gap between two calls is shortened to maxLeap. So slaves that could not be
// heard in the gap are not taken for lost.
type clockwork struct {
	last   time.Duration // the caller's time of the last call
	Now    time.Duration
	offset time.Duration // now - last
}

// maxLeap is the most by which one call advances the mapper's time.
const maxLeap = 2 * time.Second

// At advances the mapper's time to the caller's time t, by at most maxLeap and never backwards, and returns it.
func (c *clockwork) At(t time.Duration) time.Duration {
	c.Now += min(max(0, t-c.last), maxLeap)
	c.last = t
	c.offset = c.Now - t
	return c.Now
}

// Raw converts a time of the mapper to the caller's time.
func (c *clockwork) Raw(t time.Duration) time.Duration { return t - c.offset }

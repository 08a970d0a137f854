package cluster

import (
	"cmp"
	"time"

	"adshard/balance"
	"adshard/balance/load"
)

// Config configures a Mapper. Zero fields take the defaults of WithDefaults,
// where there are any.
type Config struct {
	Epoch uint64
	Order balance.Order
	// Began is the time of day at the caller's time 0.
	Began time.Time
	// Slaves is how many slaves must have joined before the first plan.
	Slaves int
	// Replicas is how many slaves hold each slice; 0: one. The number is that of
	// SetReplicas from then on, until it is configured otherwise.
	Replicas int
	Strategy balance.Strategy
	// Shadows run whenever Strategy does, on the same input, but their proposals
	// are not executed. One with Strategy's name is left out.
	Shadows []balance.Strategy
	// Limits are by the slave's name.
	Limits map[string]balance.Limit
	// Budget bounds what iterations may have moving at once.
	Budget balance.Budget
	// Pace is the least time between two quanta; Beat is the most, and with it
	// the longest that a change waits. Interval is the time between two iterations of the
	// strategy; 0: none. Shards that drain or are lost are emptied all the same.
	Pace, Beat, Interval time.Duration
	// DeadAfter is how long after its last report a slave counts as lost; nothing
	// waits for it then. After EvacuateAfter its slices go to others; 0: never.
	DeadAfter, EvacuateAfter time.Duration
	// Report is the time between two reports of a slave. One that has missed two is not relied
	// on as the last one of its shard, though it does not count as lost yet.
	Report time.Duration
	// Stall is the time without progress after which a move is cancelled.
	Stall time.Duration
	// MasterLease is how long after its last call a master may still use its
	// view; after that, slaves refuse the view. Linger is the longest query.
	MasterLease, Linger time.Duration
	// Scrub is the time between two passes that compare everything slaves serve
	// with the source of truth; 0: no passes. ScrubShare is the share of one
	// processor that they may take.
	Scrub      time.Duration
	ScrubShare float64
	// LoadWeights and HalfLife are those of the LoadTable.
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
	// DefaultBudget is the share of all items that Slicer's weighted-move moves
	// at most (Adya et al., OSDI 2016, 4.4). Config without one has no
	// limit.
	DefaultBudget = 0.09
)

// WithDefaults returns the configuration with defaults for what is zero.
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

// IntervalOrDefault is the time between two iterations, or what counts as one where
// there are none.
func (c *Config) IntervalOrDefault() time.Duration {
	return cmp.Or(c.Interval, DefaultInterval)
}

// clockwork makes time monotonic and without jumps: a gap between two calls, since
// the process was stopped or its clock was set, counts as at most maxLeap. Slaves
// that could not be heard meanwhile are therefore not taken for lost.
type clockwork struct {
	last   time.Duration // as passed in
	Now    time.Duration
	offset time.Duration // now - last
}

// maxLeap is the most that one call advances the mapper's time.
const maxLeap = 2 * time.Second

// At advances the mapper's time to the caller's time t, by at most maxLeap and never backwards, and returns it.
func (c *clockwork) At(t time.Duration) time.Duration {
	c.Now += min(max(0, t-c.last), maxLeap)
	c.last = t
	c.offset = c.Now - t
	return c.Now
}

// Raw converts a time to the caller's.
func (c *clockwork) Raw(t time.Duration) time.Duration { return t - c.offset }

package balance

import "time"

// MapperConfig configures a Mapper. Times are since any fixed moment. Zero
// fields have the defaults of WithDefaults, if there are any.
type MapperConfig struct {
	Epoch uint64
	Order Order
	// Nodes is how many nodes must have joined before the first plan.
	Nodes    int
	Strategy Strategy
	// Shadows are iterated whenever Strategy is, on the same input, and nothing
	// is done of what they propose. One with Strategy's name is left out.
	Shadows []Strategy
	// Limits are by the node's name.
	Limits map[string]Limit
	// Budget is the most that may be on its way at once because of iterations.
	Budget Budget
	// Pace is the least time between two quanta, Beat the most: so long a
	// change may wait. Interval is the time between two iterations of the
	// strategy; 0: none. Nodes that drain or are lost are emptied all the same.
	Pace, Beat, Interval time.Duration
	// DeadAfter: a node that was not heard of for so long is lost; nobody waits
	// for it. One lost for EvacuateAfter loses its slices to others; 0: never.
	DeadAfter, EvacuateAfter time.Duration
	// Stall: a move that does not come on for so long is cancelled.
	Stall time.Duration
	// MasterLease: a master that was not heard of for so long has older views
	// no more, or is told so by the nodes. Linger is how long a query may last.
	MasterLease, Linger time.Duration
	// Scrub is the time between two passes in which all that nodes serve is
	// compared with the source of truth; 0: there are none. ScrubShare is how much
	// of a processor that may take.
	Scrub      time.Duration
	ScrubShare float64
	// LoadWeights and HalfLife are those of the LoadTable.
	LoadWeights LoadWeights
	HalfLife    time.Duration
}

// The defaults of MapperConfig.
const (
	DefaultPace          = 10 * time.Millisecond
	DefaultBeat          = 200 * time.Millisecond
	DefaultInterval      = 10 * time.Second
	DefaultDeadAfter     = 10 * time.Second
	DefaultEvacuateAfter = 5 * time.Minute
	DefaultStall         = time.Minute
	DefaultMasterLease   = 15 * time.Second
	DefaultLinger        = 5 * time.Second
	DefaultScrub         = 24 * time.Hour
	DefaultScrubShare    = 0.01
	// DefaultBudget is the share of all items that Slicer's weighted-move moves
	// at most (Adya et al., OSDI 2016, 4.4). MapperConfig without one has no
	// limit.
	DefaultBudget = 0.09
)

const (
	// retryPlan is how long the mapper waits after a plan that failed.
	retryPlan = time.Second
	// patrolInterval is the time between two looks for who has been silent.
	patrolInterval = 500 * time.Millisecond
	// emptyPace is the time between two times that slices leave nodes which drain
	// or are lost, unless all are there earlier.
	emptyPace = DefaultInterval
	// switchGap is the least time between two quanta with switches: moves that
	// become ready meanwhile share a view.
	switchGap = 50 * time.Millisecond
	// maxUnpublished is how many views may wait to be acknowledged before no
	// further slices are switched.
	maxUnpublished = 4
	// restIntervals is how many intervals a slice keeps away from a node that
	// it left, and rideIntervals from one that it could not get to.
	restIntervals, rideIntervals = 10, 3
)

// WithDefaults returns the configuration with defaults for what is zero.
func (c MapperConfig) WithDefaults() MapperConfig {
	set := func(v *time.Duration, to time.Duration) {
		if *v == 0 {
			*v = to
		}
	}
	set(&c.Pace, DefaultPace)
	set(&c.Beat, DefaultBeat)
	set(&c.DeadAfter, DefaultDeadAfter)
	set(&c.Stall, DefaultStall)
	set(&c.MasterLease, DefaultMasterLease)
	set(&c.Linger, DefaultLinger)
	if c.ScrubShare == 0 {
		c.ScrubShare = DefaultScrubShare
	}
	return c
}

// interval is the time between two iterations, or what counts as one where
// there are none.
func (c *MapperConfig) interval() time.Duration {
	if c.Interval == 0 {
		return DefaultInterval
	}
	return c.Interval
}

// clockwork makes a time that never goes back and never jumps: of a time that
// nobody told, since the process was stopped or its clock was set, at most
// maxLeap counts. So who could not be heard meanwhile is not taken for lost.
type clockwork struct {
	last   time.Duration // as told
	now    time.Duration
	offset time.Duration // now - last
}

// maxLeap is the most that the mapper's time goes on by one call.
const maxLeap = 2 * time.Second

func (c *clockwork) at(told time.Duration) time.Duration {
	c.now += min(max(0, told-c.last), maxLeap)
	c.last = told
	c.offset = c.now - told
	return c.now
}

// raw returns a time as the caller tells it.
func (c *clockwork) raw(t time.Duration) time.Duration { return t - c.offset }

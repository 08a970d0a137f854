package esdb

import "time"

// Policy says how tenants' writes are routed.
type Policy int

// The policies.
const (
	Hashing Policy = iota
	Double
	Dynamic
)

// doubleSpread is the number of shards over which double hashing spreads each tenant.
const doubleSpread = 8

// policies lists all policies.
var policies = [...]Policy{Hashing, Double, Dynamic}

// String returns the policy's name.
func (p Policy) String() string { return [...]string{"hashing", "double hashing", "dynamic"}[p] }

// Phase says what is written from a moment on: tenant i+Shift has the probability of the
// i-th tenant of a Zipf distribution of exponent Theta.
type Phase struct {
	From  time.Duration
	Theta float64
	Shift int
}

// Config is one run.
type Config struct {
	Policy Policy
	Phases []Phase
	// Tenants is the number of tenants that write.
	Tenants int
	// Rate is the number of writes generated per second.
	Rate float64
	// Duration is the simulated time; Warmup is the part of it that is not measured.
	Duration, Warmup time.Duration
	// Each is the number of writes simulated as one, which takes the time of all of them.
	Each int
	// ShardRate is the most writes per second that a shard executes; 0: no limit. Buffer is
	// the number of writes that wait in a client before the generator waits; 0: no limit.
	ShardRate float64
	Buffer    int
	// Storage: the rules begin with those that §4.1 derives from what is stored, for tenants
	// of this skew; <0: nothing is stored.
	Storage float64
	Commit  Commit
	Seed    uint64
}

// Commit says how rules are agreed on (§4.3).
type Commit struct {
	// Period is how often writes are examined, Ahead (T) how far ahead rules take effect.
	Period, Ahead time.Duration
	// Trip is the longest time that a message takes; ClockError the largest error of a
	// client's clock; Loss the share of the prepare phase's messages that are lost.
	Trip, ClockError time.Duration
	Loss             float64
}

// The cluster of §6.1.
const (
	nodes, clients, shards = 8, 3, 512

	// nodeRate is the number of executions that a node does per second.
	nodeRate = 35_000
	// window is the number of unacknowledged writes of a client that a node may have.
	window = 1000
	// latency is the time that a data message takes, tick the interval at which writes are
	// generated.
	latency, tick = 500 * time.Microsecond, 10 * time.Millisecond
)

// manyTenants is the number of tenants in §6.3.1; the paper does not give the number in
// §6.2.
const manyTenants = 100_000

// usual returns the commit protocol with the paper's bounds: clocks within 1 s, round
// trips of 100 ms. T lies between these bounds and 60 s.
func usual() Commit {
	return Commit{Period: 10 * time.Second, Ahead: 10 * time.Second, Trip: 50 * time.Millisecond, ClockError: time.Second}
}

// Result is the result of a run, after its warm-up.
type Result struct {
	// Throughput is the number of writes acknowledged per second, Delay the mean time from
	// creation to acknowledgement, in seconds.
	Throughput, Delay float64
	// Nodes are the executions per second of each node, Busy is the share of the time in
	// which it worked, Shards are the writes per second of each shard.
	Nodes, Busy, Shards []float64
	// Seconds holds the number of writes acknowledged in each second, from the beginning on.
	Seconds []float64
	// Committed and Aborted count proposals of rules; Rules counts the rules at the end.
	Committed, Aborted, Rules int
	// Misrouted counts writes that went to a shard other than the one that all final rules
	// say.
	Misrouted int
}

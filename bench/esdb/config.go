package esdb

import "time"

// Policy is how tenants' writes are routed.
type Policy int

// The policies.
const (
	Hashing Policy = iota
	Double
	Dynamic
)

// doubleSpread is the number of shards over which double hashing spreads each tenant.
const doubleSpread = 8

// policies are all of them.
var policies = [...]Policy{Hashing, Double, Dynamic}

// String returns the policy's name.
func (p Policy) String() string { return [...]string{"hashing", "double hashing", "dynamic"}[p] }

// Phase is what is written from a moment on: tenant i+Shift has the probability of the
// i-th of a Zipf distribution of exponent Theta.
type Phase struct {
	From  time.Duration
	Theta float64
	Shift int
}

// Config is one run.
type Config struct {
	Policy Policy
	Phases []Phase
	// Tenants are how many write.
	Tenants int
	// Rate is how many writes a second are generated.
	Rate float64
	// Duration is simulated; of it Warmup does not count.
	Duration, Warmup time.Duration
	// Each is how many writes go together as one, with the time that all of them take.
	Each int
	// ShardRate is how many writes a second a shard does at most; 0: no limit. Buffer is
	// how many writes wait in a client before the generator does; 0: no limit.
	ShardRate float64
	Buffer    int
	// Storage: the rules begin with those for tenants of this skew, as §4.1 has them made of
	// what is stored; <0: nothing is stored.
	Storage float64
	Commit  Commit
	Seed    uint64
}

// Commit is how rules are agreed on (§4.3).
type Commit struct {
	// Period is how often writes are looked at, Ahead (T) how far ahead rules take effect.
	Period, Ahead time.Duration
	// Trip is the most that a message takes; ClockError the most that a client's clock is
	// off; Loss the part of the messages of the prepare phase that are lost.
	Trip, ClockError time.Duration
	Loss             float64
}

// The cluster of §6.1.
const (
	nodes, clients, shards = 8, 3, 512

	// nodeRate is how many executions a second a node does.
	nodeRate = 35_000
	// window is how many writes of a client a node has under way.
	window = 1000
	// latency is what a message of data takes, tick how often writes are generated.
	latency, tick = 500 * time.Microsecond, 10 * time.Millisecond
)

// manyTenants is how many there are in §6.3.1; how many in §6.2 is not told.
const manyTenants = 100_000

// usual is the commit protocol with the paper's bounds: clocks within 1 s, round trips of
// 100 ms; T is between them and 60 s.
func usual() Commit {
	return Commit{Period: 10 * time.Second, Ahead: 10 * time.Second, Trip: 50 * time.Millisecond, ClockError: time.Second}
}

// Result is what came out of a run, after its warm-up.
type Result struct {
	// Throughput is how many writes a second were acknowledged, Delay the mean time from
	// creation to acknowledgement, in seconds.
	Throughput, Delay float64
	// Nodes are executions a second of each node, Busy which part of the time it worked,
	// Shards writes a second of each shard.
	Nodes, Busy, Shards []float64
	// Seconds are writes acknowledged in each second, from the beginning on.
	Seconds []float64
	// Committed and Aborted count proposals of rules, Rules the rules of the end.
	Committed, Aborted, Rules int
	// Misrouted counts writes that went elsewhere than all rules of the end say.
	Misrouted int
}

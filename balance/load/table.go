package load

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"adshard/balance"
)

// The defaults of a Table.
const (
	// DefaultHalfLife is the half-life of averages.
	DefaultHalfLife = 10 * time.Second
	// MaxHot bounds the number of hot items, and MaxTopics the number of topics of each
	// shard.
	MaxHot    = 65_536
	MaxTopics = 512
	// minQueries is the number of queries that averages must cover. With that many, the
	// sampling error of a slice's share is about a tenth.
	minQueries = 100
	// idleQueries is the least number of queries per half-life at which loads are
	// meaningful. Below it, an average is only what has not decayed yet.
	idleQueries = 1
	// switchOver is how long, in a slave's reported time, a slave may take until it
	// counts a slice under the slice's new generation. Until then, a missing report does
	// not mean a load of zero.
	switchOver = 5 * time.Second
)

// Table averages the cost of queries that slaves report. Averages decay by half-life
// over the time that the reports cover, independently of clocks, so a shard that falls
// silent keeps its load. Only slices that a shard serves are counted, not those that it
// merely holds. A report takes time in proportion to its size. Memory is proportional to
// the number of slices, MaxHot, MaxTopics and MaxPairs.
type Table struct {
	weights  Weights
	halfLife float64 // seconds

	m       *balance.Model
	items   balance.Items
	order   []*sliceLoad // in the order of m's slices
	byID    map[uint64]*sliceLoad
	shards  map[balance.ShardID]*shardLoad
	hot     hitters[balance.Key]
	pairs   hitters[pair]
	ignored map[string]uint64
	// measured is set once any load was counted. It stays set if loads decay to zero:
	// the items' weights are not used again.
	measured bool
	asked    bool      // some query was counted
	last     *snapshot // the newest snapshot; nil if it is out of date
}

// shardLoad is the state of the reports of a shard's slaves. A report of one of n slaves
// covers an n-th of its time, with n times the load. So the averages are those of the
// sum of the slaves.
type shardLoad struct {
	slaves  map[string]*reports
	exposed float64 // seconds that the reports covered
	sampled float64 // of these, seconds for which pairs were reported
	queries average
	topics  hitters[uint64]
}

// reports is the state of the reports of a slave.
type reports struct {
	incarnation string
	past        []string // earlier incarnations, the newest last
	number      uint64
	until       time.Duration // when the slave stops being counted, unless another report comes
}

// reporting is the number of its own intervals for which a silent slave is still
// counted.
const reporting = 4

// sliceLoad is a slice with its average.
type sliceLoad struct {
	balance.Slice
	average
	split balance.Key // the last key of the left half of the load, as last reported; 0 if unknown
	// waits is set while the shard may not have the slice's generation yet. A missing
	// report then does not mean a load of zero until the exposure reaches quiet.
	waits bool
	quiet float64
}

// average is a decayed average of load per second.
type average struct {
	rate float64
	seen float64 // seconds that it covers, at most those that still matter
	at   float64 // the shard's exposure when it was last updated
}

// step adds the load c per second during dt seconds. While the average covers little
// time it is a plain mean, so that it does not have to rise from zero.
func (a *average) step(dt, c, halfLife float64) {
	if dt <= 0 {
		return
	}
	alpha := max(1-math.Exp2(-dt/halfLife), dt/(a.seen+dt))
	a.rate += alpha * (c - a.rate)
	a.seen += dt
}

// NewTable returns an empty table. Zero weights mean DefaultWeights, and a zero
// half-life means DefaultHalfLife.
func NewTable(weights Weights, halfLife time.Duration) *Table {
	if weights == (Weights{}) {
		weights = DefaultWeights
	}
	if halfLife <= 0 {
		halfLife = DefaultHalfLife
	}
	return &Table{
		weights: weights, halfLife: halfLife.Seconds(), byID: map[uint64]*sliceLoad{},
		shards: map[balance.ShardID]*shardLoad{}, hot: newHitters(MaxHot, cmp.Compare[balance.Key]), pairs: newHitters(MaxPairs, comparePairs),
		ignored: map[string]uint64{},
	}
}

// Report adds the counts of a shard of model m. It returns "", or why the report is
// ignored. Entries of slices that do not match the model (unknown, of another
// generation, served elsewhere) are skipped and counted in Ignored; the rest of the
// report is used.
func (t *Table) Report(now time.Duration, shard balance.ShardID, m *balance.Model, r *Report) (ignored string) {
	if m != t.m {
		t.Model(m, t.items)
	}
	if _, ok := m.Shard(shard); !ok {
		return t.ignore("unknown shard")
	}
	if absurd(r) {
		return t.ignore("absurd")
	}
	n := t.shard(shard)
	if why := n.of(r.Slave).follows(r); why != "" {
		return t.ignore(why)
	}
	r = n.share(now, r)
	seconds := r.Interval.Seconds()
	n.exposed += seconds
	t.asked = t.asked || r.Queries > 0
	n.queries.step(seconds, float64(r.Queries)/seconds, t.halfLife)
	t.last = nil
	for _, c := range r.Slices {
		t.slice(n, shard, r, c)
	}
	for _, c := range r.Items {
		t.item(n, shard, r, c)
	}
	for _, c := range r.Topics {
		n.topics.add(c.Term, shard, n.exposed, r.Interval.Seconds(), t.rate(c.Cost, r), t.halfLife)
	}
	if len(r.Pairs) > 0 {
		n.sampled += seconds
	}
	for _, c := range r.Pairs {
		t.pair(n, shard, r, c)
	}
	n.topics.trim()
	t.hot.trim()
	t.pairs.trim()
	return ""
}

// of returns the state of a slave's reports.
func (n *shardLoad) of(slave string) *reports {
	if n.slaves[slave] == nil {
		n.slaves[slave] = &reports{}
	}
	return n.slaves[slave]
}

// share returns the report of one of n slaves that report for the shard, changed so that
// it covers an n-th of the time, with the same counts.
func (n *shardLoad) share(now time.Duration, r *Report) *Report {
	n.slaves[r.Slave].until = now + reporting*r.Interval
	count := 0
	for name, s := range n.slaves {
		if now <= s.until {
			count++
		} else if len(n.slaves) > maxPast {
			delete(n.slaves, name)
		}
	}
	if count == 1 {
		return r
	}
	part := *r
	part.Interval /= time.Duration(count)
	return &part
}

// slice adds the cost of one slice.
func (t *Table) slice(n *shardLoad, shard balance.ShardID, r *Report, c SliceCost) {
	s := t.byID[c.Slice]
	switch {
	case s == nil:
		t.ignore("unknown slice")
	case s.Move.Phase == balance.Switched && (s.Shard == shard || s.Move.Other == shard):
		// Masters are switching from one shard to the other: the expected load stays
		// until all of them have switched.
	case s.Shard != shard:
		t.ignore("slice served elsewhere")
	case s.Generation != c.Generation:
		t.ignore("another generation")
		s.at = n.exposed // an unknown load is not a load of zero
	case s.at == n.exposed:
		t.ignore("doubled")
	default:
		t.settle(s, n.exposed-r.Interval.Seconds())
		s.waits, t.measured = false, t.measured || t.rate(c.Cost, r) > 0
		s.step(r.Interval.Seconds(), t.rate(c.Cost, r), t.halfLife)
		s.at = n.exposed
		t.splitAt(s, c.Split)
	}
}

// splitAt takes the key at which a slave would cut a slice. If there are several
// replicas, the newest report is used.
func (t *Table) splitAt(s *sliceLoad, split balance.Key) {
	switch {
	case split == 0: // the slave does not know it, or is too old to report split keys
	case split < s.Lo || split > s.Hi:
		t.ignore("split key outside of its slice")
	case splits(s.Slice, split):
		s.split = split
	}
}

// SplitKey returns the last key of the left half of a slice of the newest model, so cut
// that half of the load is on each side; or 0 if unknown.
func (t *Table) SplitKey(slice uint64) balance.Key {
	if s := t.byID[slice]; s != nil {
		return s.split
	}
	return 0
}

// Rate returns a slice's average load per second, or 0 if none is known.
func (t *Table) Rate(slice uint64) float64 {
	if s := t.byID[slice]; s != nil {
		return s.rate
	}
	return 0
}

// item adds the cost of one item, if the shard serves the item.
func (t *Table) item(n *shardLoad, shard balance.ShardID, r *Report, c ItemCost) {
	if t.serves(shard, c.Key, "item served elsewhere") {
		t.hot.add(c.Key, shard, n.exposed, r.Interval.Seconds(), t.rate(c.Cost, r), t.halfLife)
	}
}

// serves reports whether a shard is the only one that serves a key. If the shard neither
// serves it nor is the other shard of a move, that is counted as ignored.
func (t *Table) serves(shard balance.ShardID, k balance.Key, ignored string) bool {
	s := t.m.At(k)
	if s.Shard != shard && s.Move.Other != shard {
		t.ignore(ignored)
	}
	return s.Shard == shard && s.Move.Phase != balance.Switched
}

// settle adds a load of zero for the slice, from its last update up to the shard's
// exposure.
func (t *Table) settle(s *sliceLoad, exposed float64) {
	from := s.at
	if s.waits {
		from = max(from, s.quiet)
		s.waits = exposed < s.quiet
	}
	if s.Move.Phase != balance.Switched {
		s.step(exposed-from, 0, t.halfLife)
	}
	s.at = max(s.at, exposed)
}

// rate returns the load per second for one of the costs of a report.
func (t *Table) rate(c Cost, r *Report) float64 {
	return t.weights.Of(c) / r.Interval.Seconds()
}

func (t *Table) shard(id balance.ShardID) *shardLoad {
	n := t.shards[id]
	if n == nil {
		n = &shardLoad{slaves: map[string]*reports{}, topics: newHitters(MaxTopics, cmp.Compare[uint64])}
		t.shards[id] = n
	}
	return n
}

// Forget drops the state of a removed shard.
func (t *Table) Forget(id balance.ShardID) {
	delete(t.shards, id)
	t.last = nil
}

func (t *Table) ignore(why string) string {
	t.ignored[why]++
	return why
}

// Few returns a text if the averages come from too few queries: fewer than minQueries
// per half-life, as the mean of the given shards, since each shard sees every query. It
// returns "" if there are enough, or if no load was ever measured.
func (t *Table) Few(shards []balance.ShardID) string {
	if !t.measured {
		return ""
	}
	var queries float64
	for _, id := range shards {
		if n := t.shards[id]; n != nil {
			queries += n.queries.rate * min(n.queries.seen, t.halfLife) / float64(len(shards))
		}
	}
	if queries >= minQueries {
		return ""
	}
	return fmt.Sprintf("too few queries to judge by (%.0f in the last %.3g seconds)", queries, t.halfLife)
}

// Idle reports whether there were queries before and they have stopped on all of the
// given shards. The remaining averages are then meaningless: each decays at the pace of
// its own shard, and their ratios are arbitrary.
func (t *Table) Idle(shards []balance.ShardID) bool {
	if !t.measured || !t.asked {
		return false
	}
	for _, id := range shards {
		if n := t.shards[id]; n != nil && n.queries.rate*min(n.queries.seen, t.halfLife) >= idleQueries {
			return false
		}
	}
	return len(shards) > 0
}

// None is the Loads of an idle cluster: measured, but zero everywhere.
type None struct{}

// Slice implements Loads.
func (None) Slice(uint64) float64 { return 0 }

// Hot implements Loads.
func (None) Hot(balance.Key, balance.Key, func(balance.Key, float64) bool) {}

// Measured implements Loads.
func (None) Measured() bool { return true }

// Ignored returns the number of reports, and of entries of reports, that were ignored,
// by reason.
func (t *Table) Ignored() map[string]uint64 {
	out := make(map[string]uint64, len(t.ignored))
	for why, n := range t.ignored {
		out[why] = n
	}
	return out
}

// Topics returns the n topics (anchor terms) of a shard with the most load per second,
// the greatest first.
func (t *Table) Topics(shard balance.ShardID, n int) []Topic {
	l := t.shards[shard]
	if l == nil {
		return nil
	}
	var out []Topic
	for _, h := range l.topics.top(n, func(h hit) float64 { return h.now(l.exposed, t.halfLife) }) {
		out = append(out, Topic{Term: h.key, Load: h.load})
	}
	return out
}

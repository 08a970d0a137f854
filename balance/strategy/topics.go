package strategy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/load"
	"adshard/balance/strategy/draft"
	"adshard/balance/strategy/options"
)

const topicsName = "topics"

// Topics spreads each hot topic evenly over the shards while their load stays within a
// band (it comes from no paper; see docs/decisions/026-topics.md). A query waits for its
// slowest slave, and its cost for a slave is that of the items there that have its terms.
// Even load does not help: it may be the sum of queries each of which is slow on another
// slave. Random placement is not even either: of a topic of 40 items, one of 10 shards
// usually has seven or more.
//
// It knows the pairs of a term and an item that slaves sample (Input.Topics). Take a topic
// of load C, of which shard n has x. No placement of whole items has less than B =
// max(C/shards, its dearest item) on the slowest shard. The objective is the sum over
// topics of C·Σₙ(x/B)². Items move one by one, those first that lower the objective most
// for the cost of moving them, to shards that stay within Aim of the mean load. (To count
// queries, C would have to be the number of queries for the topic. But a sample gives
// loads, so a query counts by its cost; measurements showed little difference.)
//
// Load comes first: above its band, Load (weighted-move-fast) decides, and topics wait.
// Each iteration makes a complete plan. Moves begin only if the plan lowers the part of
// the objective that can be lowered by Begin, and go on until it lowers it by less than
// End. Topics remembers whether moves have begun, and for how long topics were sampled, in
// two bytes. An item moves only if its shard has more of the item's topics than the other
// shard by Gain of their B: samples are noisy, and differences due to noise would make
// items move for ever.
type Topics struct {
	Load WeightedMove
	TopicsConfig
}

// TopicsConfig has the constants of Topics.
type TopicsConfig struct {
	// Aim is how far above the mean load a shard may be and still take items for its
	// topics.
	Aim float64
	// Begin and End are shares of the part of the objective that is above its bound.
	Begin, End float64
	// Gain is the least difference, as a share of B, between what an item's shard has of
	// the item's topics and what the other shard would have with the item.
	Gain float64
	// MostSlices is the greatest number of slices. Items are cut out of slices only below
	// it.
	MostSlices int
}

func readTopics(r *options.Reader) Topics {
	c := TopicsConfig{Aim: 0.05, Begin: 0.2, End: 0.1, Gain: 0.3, MostSlices: 100_000}
	r.Number(&c.Aim, "aim", 0, 10, "how far above the mean load a shard may be that takes items for their topics")
	r.Number(&c.Begin, "begin", 0, 1, "what a plan must gain, as a share of what the topics have above an even spread, for items to move")
	r.Number(&c.End, "end", 0, 1, "what a plan gains when moves end again; at most begin")
	r.Number(&c.Gain, "gain", 0, 10, "how much more of an item's topics its shard must have than another one for the item to move, in the least that a topic's busiest shard can have")
	r.Count(&c.MostSlices, "slices", 250_000, "maximum number of slices; items are cut out of slices only below it")
	if c.End > c.Begin {
		r.Fault("end must not be above begin")
	}
	return Topics{Load: WeightedMove{name: weightedMoveFastName, Config: Fast()}, TopicsConfig: c}
}

// Name implements balance.Strategy.
func (Topics) Name() string { return topicsName }

// Initial implements balance.Strategy. It spreads topics at random: by runs of keys if
// keys are hashes, otherwise by single items.
func (t Topics) Initial(in balance.Input) (balance.Proposal, error) {
	if in.Order == balance.ByHash {
		return t.Load.Initial(in)
	}
	return Random{Seed: 1, MostSlices: t.MostSlices}.Initial(in)
}

// Iterate implements balance.Strategy.
func (t Topics) Iterate(in balance.Input) (balance.Proposal, error) {
	p, err := t.Load.Iterate(in)
	if err != nil {
		return p, err
	}
	p.Memory = in.Memory
	if len(p.Ops) > 0 || in.Few != "" || in.Topics == nil {
		return p, nil
	}
	b := draft.New(in, t.Load.Config.MoveShare)
	list := hottest(in.Topics(), mostCells/len(b.Shards))
	if b.Total == 0 || b.Active < 2 || len(list) == 0 {
		return p, nil
	}
	m := readSpreading(in.Memory)
	if now := sampledMinutes(in); now < m.minutes {
		p.Reasons = append(draft.LeftAsIs(fmt.Sprintf("topics rest: slaves have told them for %d minutes, and what they were spread by last for %d", now, m.minutes)), p.Reasons...)
		return p, nil
	}
	s := t.gather(b, list)
	s.plan()
	least := t.Begin
	if m.working {
		least = t.End
	}
	gain := s.gained / max(s.above, 1e-300)
	said := fmt.Sprintf("%d topics are at %.3f of the best spread; moving %d ad groups would take away %.3f of what is above it",
		len(list), s.excess(), len(s.moves), gain)
	m = spreading{working: gain >= least && len(s.moves) > 0, minutes: sampledMinutes(in)}
	if m.working {
		b.Leave(0, "%s", said)
		s.carryOut()
	} else {
		b.Leave(0, "rests, as topics move for %.3g at least: %s", least, said)
		b.Reasons = append(b.Reasons, p.Reasons...)
	}
	tidy(b, t.MostSlices/2)
	out := b.Proposal()
	out.Memory = m.memory()
	return out, nil
}

// spreading is the memory of Topics: whether moves have begun, and for how many minutes,
// at most PairHalfLife, slaves had reported topics. A balancer that is started again knows
// no topics. What it learns in the first minutes is a thin sample, by which it would move
// items that are already in good places. The placement holds what was learned: so it stays
// as it is until as much is known again.
type spreading struct {
	working bool
	minutes byte
}

func sampledMinutes(in balance.Input) byte {
	return byte(min(in.Sampled, load.PairHalfLife) / time.Minute)
}

func (m spreading) memory() []byte {
	if m.working {
		return []byte{1, m.minutes}
	}
	return []byte{0, m.minutes}
}

// readSpreading decodes a memory. If it is not valid, moves have not begun.
func readSpreading(b []byte) spreading {
	if len(b) != 2 || b[0] > 1 || time.Duration(b[1])*time.Minute > load.PairHalfLife {
		return spreading{}
	}
	return spreading{working: b[0] == 1, minutes: b[1]}
}

// spread is an iteration of Topics.
type spread struct {
	*draft.Draft
	Topics
	topics []topic
	on     [][]float64 // load by topic and shard
	items  []topical

	above  float64 // the part of the objective above its bound
	least  float64 // the bound: the greater of each topic even, and each item alone on a shard
	gained float64 // how much the whole plan lowers the objective
	moves  []int   // indices in items of the moves that the budget allows
}

// topic has the constants of a topic in the objective.
type topic struct {
	bound  float64 // B
	weight float64 // C/B²
}

// topical is an item that belongs to some topic.
type topical struct {
	key    balance.Key
	part   int
	at     int // index of its shard, in the prediction
	load   float64
	weight uint32
	in     []member
}

// member is the cost of an item under a topic.
type member struct {
	topic int
	load  float64
}

// mostCells bounds the number of topics times shards in an iteration, and so its memory,
// to 64 MB.
const mostCells = 8 << 20

// hottest returns the topics that can be spread. If there are too many, it returns those
// with the most load.
func hottest(list []balance.Topic, most int) []balance.Topic {
	type sized struct {
		balance.Topic
		load float64
	}
	var some []sized
	for _, t := range list {
		if len(t.Items) < 2 {
			continue
		}
		v := sized{Topic: t}
		for _, item := range t.Items {
			v.load += item.Load
		}
		some = append(some, v)
	}
	if len(some) > most {
		slices.SortStableFunc(some, func(a, b sized) int { return cmp.Compare(b.load, a.load) })
		some = some[:most]
	}
	out := make([]balance.Topic, len(some))
	for i := range some {
		out[i] = some[i].Topic
	}
	return out
}

// gather reads the topics and finds their items.
func (t Topics) gather(b *draft.Draft, list []balance.Topic) *spread {
	s := &spread{Draft: b, Topics: t, topics: make([]topic, len(list)), on: make([][]float64, len(list))}
	s.find(list)
	shares := b.UpTo[len(b.UpTo)-1]
	sums, squares, dearest := make([]float64, len(list)), make([]float64, len(list)), make([]float64, len(list))
	for i := range list {
		s.on[i] = make([]float64, len(b.Shards))
	}
	strongest := 1.0
	for i := range b.Shards {
		strongest = max(strongest, b.Shards[i].Share)
	}
	for _, v := range s.items {
		for _, m := range v.in {
			sums[m.topic] += m.load
			squares[m.topic] += m.load * m.load
			dearest[m.topic] = max(dearest[m.topic], m.load)
			s.on[m.topic][v.at] += m.load
		}
	}
	for i, sum := range sums {
		if sum == 0 {
			continue
		}
		bound := max(sum/shares, dearest[i])
		s.topics[i] = topic{bound: bound, weight: sum / (bound * bound)}
		for n, x := range s.on[i] {
			s.above += s.topics[i].weight * x * x / b.Shards[n].Share
		}
		s.least += s.topics[i].weight * max(sum*sum/shares, squares[i]/strongest)
	}
	s.above -= s.least
	return s
}

// find lists the items of topics in ascending order of keys, without items that no longer
// exist.
func (s *spread) find(list []balance.Topic) {
	type entry struct {
		balance.TopicItem
		topic int
	}
	var all []entry
	for i, t := range list {
		for _, v := range t.Items {
			all = append(all, entry{v, i})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.topic, b.topic)) })
	var own []load.Item
	at, i := -1, 0
	for begin := 0; begin < len(all); {
		k, end := all[begin].Key, begin+1
		for end < len(all) && all[end].Key == k {
			end++
		}
		if at < 0 || s.Parts[at].Hi < k {
			for at = max(at, 0); s.Parts[at].Hi < k; {
				at++
			}
			own, i = load.OfItems(s.In, s.Parts[at].Slice, own[:0]), 0
		}
		for i < len(own) && own[i].Key < k {
			i++
		}
		if i < len(own) && own[i].Key == k {
			v := topical{key: k, part: at, at: s.Parts[at].At, load: own[i].Load, weight: own[i].Weight}
			for _, e := range all[begin:end] {
				v.in = append(v.in, member{e.topic, e.Load})
			}
			s.items = append(s.items, v)
		}
		begin = end
	}
}

// excess returns the objective as a multiple of its bound.
func (s *spread) excess() float64 {
	if s.least == 0 {
		return 1
	}
	return 1 + s.above/s.least
}

// plan decides which items should move where, those with the most gain for their weight
// first, and which of these moves the budget allows.
func (s *spread) plan() {
	type candidate struct {
		item int
		gain float64 // gain per cost
	}
	var list []candidate
	for i := range s.items {
		if to, gain := s.best(&s.items[i]); to >= 0 {
			list = append(list, candidate{i, gain / (s.Cost(1, uint64(s.items[i].weight)) + perMove)})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.gain, a.gain) })
	items, weight := 0, uint64(0)
	for _, o := range list {
		v := &s.items[o.item]
		to, gain := s.best(v)
		if to < 0 {
			continue
		}
		s.gained += gain
		for _, m := range v.in {
			s.on[m.topic][v.at] -= m.load
			s.on[m.topic][to] += m.load
		}
		s.Shards[v.at].Load -= v.load
		s.Shards[to].Load += v.load
		v.at = to
		if s.Affords(items+1, weight+uint64(v.weight)) {
			items, weight = items+1, weight+uint64(v.weight)
			s.moves = append(s.moves, o.item)
		}
	}
	for i := range s.items { // resets the prediction; moves that are made are counted again
		v := &s.items[i]
		s.Shards[v.at].Load -= v.load
		s.Shards[s.Parts[v.part].At].Load += v.load
	}
}

// best returns the shard to which an item should go, and by how much the objective falls.
// It returns -1 if the item should stay.
func (s *spread) best(v *topical) (to int, gain float64) {
	to = -1
	if p := &s.Parts[v.part]; p.Busy || p.Gone || p.Merged {
		return to, 0
	}
	var threshold float64
	for _, m := range v.in {
		t := &s.topics[m.topic]
		threshold += 2 * t.weight * m.load * t.bound * s.Gain
	}
	from := s.lessens(v, v.at, -1)
	for n := range s.Shards {
		b := &s.Shards[n]
		if n == v.at || !b.Active || (b.Load+v.load)/b.Share > s.Mean*(1+s.Aim) || !b.Room(uint64(v.weight)) {
			continue
		}
		if g := from + s.lessens(v, n, 1); g > gain && g >= threshold {
			if ok, _ := s.May(s.Parts[v.part].ID, n); ok {
				to, gain = n, g
			}
		}
	}
	return to, gain
}

// lessens returns by how much the objective falls on a shard if an item goes to it (sign
// 1) or leaves it (sign -1).
func (s *spread) lessens(v *topical, shard int, sign float64) (sum float64) {
	for _, m := range v.in {
		x := s.on[m.topic][shard]
		sum -= s.topics[m.topic].weight * m.load * (2*sign*x + m.load)
	}
	return sum / s.Shards[shard].Share
}

// carryOut cuts out the items that move and starts their moves, until there are too many
// slices.
func (s *spread) carryOut() {
	slices.Sort(s.moves) // in ascending order of keys
	room := s.MostSlices - len(s.Parts)
	for begin := 0; begin < len(s.moves); {
		part := s.items[s.moves[begin]].part
		end := begin + 1
		for end < len(s.moves) && s.items[s.moves[end]].part == part {
			end++
		}
		p := &s.Parts[part]
		list := s.cutOut(p, s.moves[begin:end])
		if more := len(list) - 1; more <= room && s.Carry(p, list) {
			room -= more
		}
		begin = end
	}
	if room <= 2 {
		s.Leave(0, "there are %d slices, so that few items more can be cut out", s.MostSlices-room)
	}
}

// cutOut divides a slice into the items that move and the parts between them that stay.
func (s *spread) cutOut(p *draft.Part, moves []int) (list []draft.Segment) {
	add := func(lo, hi balance.Key, to int, why string) {
		if n := len(list); n > 0 && list[n-1].To == to {
			list[n-1].Hi = hi
			return
		}
		list = append(list, draft.Segment{Interval: balance.Interval{Lo: lo, Hi: hi}, To: to, Why: why})
	}
	lo := p.Lo
	for _, i := range moves {
		v := &s.items[i]
		if p.Items == 1 {
			v.key = p.Hi // so that the whole slice moves
		} else if v.key > lo {
			add(lo, v.key-1, p.At, "")
			lo = v.key
		}
		add(lo, v.key, v.at, fmt.Sprintf("it has less of its %d topics", len(v.in)))
		lo = v.key + 1
	}
	if last := list[len(list)-1].Hi; last < p.Hi {
		add(lo, p.Hi, p.At, "")
	}
	return list
}

// mostJoined is the greatest number of slices that an iteration merges because there are
// too many.
const mostJoined = 1000

// tidy merges neighbours on the same shard while there are more than `most` slices.
func tidy(b *draft.Draft, most int) {
	joined := 0
	for i := 1; i < len(b.Parts) && joined < min(mostJoined, len(b.Parts)-most); i++ {
		l, r := &b.Parts[i-1], &b.Parts[i]
		if l.Busy || r.Busy || l.At != r.At {
			continue
		}
		if b.Merge(l.ID, r.ID, "slices %d and %d are neighbours on shard %s, and there are %d slices", l.ID, r.ID, b.Shards[l.At].Name, len(b.Parts)) {
			r.ID, r.Lo, l.Gone, r.Merged = l.ID, l.Lo, true, true
			joined++
		}
	}
}

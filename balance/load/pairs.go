package load

import (
	"cmp"
	"slices"
	"time"

	"adshard/balance"
)

const (
	// MaxPairs bounds the pairs of a term and an item that a Table keeps: 16 MiB, with
	// the quarter more that it has until the lightest are dropped.
	MaxPairs = 131_072
	// PairHalfLife is how long it takes until half of a pair's average is new. A report
	// has only some of the pairs, so that it takes minutes to know them; which items a
	// topic consists of changes more slowly than how often it is asked for.
	PairHalfLife = 10 * time.Minute
)

// pair is an item under a term.
type pair struct {
	term uint64
	key  balance.Key
}

func comparePairs(a, b pair) int {
	return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.key, b.key))
}

// pair counts what an item cost under a term, if the shard serves it.
func (t *Table) pair(n *shardLoad, shard balance.ShardID, r *Report, c PairCost) {
	if t.serves(shard, c.Key, "pair served elsewhere") {
		t.pairs.add(pair{c.Term, c.Key}, shard, n.exposed, r.Interval.Seconds(), t.rate(c.Cost, r), PairHalfLife.Seconds())
	}
}

// Sampled returns for how much time pairs were told: by the slave that told them longest,
// since one that has joined knows less of those that it got.
func (t *Table) Sampled() time.Duration {
	most := 0.0
	for _, n := range t.shards {
		most = max(most, n.sampled)
	}
	return time.Duration(most * float64(time.Second))
}

// HotTopics returns the topics of which pairs are known. A slave samples, and an item
// that it named only once counts as well: what matters is how the items of a topic
// are spread, which a sample shows.
func (t *Table) HotTopics() []balance.Topic {
	all := make([]heavyHitter[pair], 0, len(t.pairs.all))
	for k, v := range t.pairs.all {
		if shard := t.m.At(k.key).Shard; shard != v.shard { // it went there with its slice
			v.shard, v.at = shard, t.exposed(shard)
			t.pairs.all[k] = v
		}
		if load := v.now(t.exposed(v.shard), PairHalfLife.Seconds()); load > 0 {
			all = append(all, heavyHitter[pair]{k, load})
		}
	}
	slices.SortFunc(all, func(a, b heavyHitter[pair]) int { return comparePairs(a.key, b.key) })
	var out []balance.Topic
	for _, v := range all {
		if n := len(out); n == 0 || out[n-1].Term != v.key.term {
			out = append(out, balance.Topic{Term: v.key.term})
		}
		last := &out[len(out)-1]
		last.Items = append(last.Items, balance.TopicItem{Key: v.key.key, Load: v.load})
	}
	return out
}

package load

import (
	"cmp"
	"slices"
	"time"

	"adshard/balance"
)

const (
	// MaxPairs bounds the pairs of a term and an item that a Table keeps. They take up to
	// 16 MiB, with the quarter more that there may be before the lightest are dropped.
	MaxPairs = 131_072
	// PairHalfLife is the half-life of a pair's average. A report has only some of the
	// pairs, so it takes minutes to know them all. The items of a topic change more
	// slowly than the number of queries for it.
	PairHalfLife = 10 * time.Minute
)

// pair is an item examined for a term.
type pair struct {
	term uint64
	key  balance.Key
}

func comparePairs(a, b pair) int {
	return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.key, b.key))
}

// pair adds the cost of an item under a term, if the shard serves the item.
func (t *Table) pair(n *shardLoad, shard balance.ShardID, r *Report, c PairCost) {
	if t.serves(shard, c.Key, "pair served elsewhere") {
		t.pairs.add(pair{c.Term, c.Key}, shard, n.exposed, r.Interval.Seconds(), t.rate(c.Cost, r), PairHalfLife.Seconds())
	}
}

// Sampled returns the time for which pairs were reported. It is that of the shard that
// reported them longest, since a shard that has just joined knows less about its items.
func (t *Table) Sampled() time.Duration {
	most := 0.0
	for _, n := range t.shards {
		most = max(most, n.sampled)
	}
	return time.Duration(most * float64(time.Second))
}

// HotTopics returns the topics for which pairs are known. An item that was named only
// once counts in full, although reports are samples: only the spread of a topic's items
// matters, and a sample shows that.
func (t *Table) HotTopics() []balance.Topic {
	all := make([]heavyHitter[pair], 0, len(t.pairs.all))
	for k, v := range t.pairs.all {
		if shard := t.m.At(k.key).Shard; shard != v.shard { // the item moved there with its slice
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

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
)

// rests prevents thrashing. Keys that left a shard do not come back within restIntervals,
// unless their load has doubled or halved. Keys that failed to move to a shard do not try
// again at once. It records keys and not slices, since slices are split and merged.
type rests map[balance.ShardID][]cluster.Rest

func (r rests) add(shard balance.ShardID, v cluster.Rest) { r[shard] = append(r[shard], v) }

// index drops the rests that are over, and returns the others in searchable form.
func (r rests) index(now time.Duration) map[balance.ShardID]restIndex {
	out := make(map[balance.ShardID]restIndex, len(r))
	for shard, list := range r {
		list = slices.DeleteFunc(list, func(v cluster.Rest) bool { return now >= v.Until })
		if r[shard] = list; len(list) == 0 {
			delete(r, shard)
			continue
		}
		x := restIndex{list: slices.Clone(list)}
		slices.SortStableFunc(x.list, func(a, b cluster.Rest) int { return cmp.Compare(a.Lo, b.Lo) })
		for i, v := range x.list {
			if i > 0 {
				v.Hi = max(v.Hi, x.most[i-1])
			}
			x.most = append(x.most, v.Hi)
		}
		out[shard] = x
	}
	return out
}

// restIndex has the rests of a shard in ascending order of their first keys. most[i] is the
// highest last key of the first i+1 rests.
type restIndex struct {
	list []cluster.Rest
	most []balance.Key
}

// why returns why keys must stay away from the shard, or "" if they need not. load must
// return the load of an interval.
func (x restIndex) why(now time.Duration, keys balance.Interval, load func(balance.Interval) float64) string {
	i := sort.Search(len(x.list), func(i int) bool { return x.list[i].Lo > keys.Hi }) - 1
	for ; i >= 0 && x.most[i] >= keys.Lo; i-- {
		v := x.list[i]
		if v.Hi < keys.Lo {
			continue
		}
		if v.Load >= 0 {
			if l := load(v.Interval); l >= 2*v.Load && l > 0 || 2*l <= v.Load && v.Load > 0 {
				continue
			}
		}
		left := (v.Until - now).Round(time.Second)
		if v.Load < 0 {
			return fmt.Sprintf("it %s; it may try again in %v", v.Why, left)
		}
		return fmt.Sprintf("it %s and stays away for %v more, unless its load doubles or halves", v.Why, left)
	}
	return ""
}

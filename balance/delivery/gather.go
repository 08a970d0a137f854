package delivery

import (
	"adshard/balance"
)

// gathering collects the entries of one bucket, within the bucket's bounds.
type gathering struct {
	entries []Entry
	limit   int     // greatest number of entries
	budget  float64 // bytes still expected to fit
	perUnit float64
	items   balance.Items
	seen    map[target]bool // items and parents in entries because of a change
	// wait reports whether a change is deferred. It is nil if no change is.
	wait func(balance.Change) bool
}

// target identifies the item or parent that a change concerns.
type target struct {
	key    balance.Key
	parent balance.Parent
}

// entryBytes is the estimated size of an entry without its weight.
const entryBytes = 256

func (g *gathering) full() bool { return len(g.entries) >= g.limit || g.budget <= 0 }

func (g *gathering) add(e Entry) {
	if e.Changed() {
		if g.seen == nil {
			g.seen = make(map[target]bool)
		}
		g.seen[target{e.Key, e.Parent}] = true
	}
	g.entries = append(g.entries, e)
	g.budget -= entryBytes + float64(e.weight)*g.perUnit
}

// changes adds the changes that concern the own keys. It adds each key and parent once,
// since the newest content is sent. If not all changes fit, it lowers reached to the
// clock up to which they do.
func (g *gathering) changes(list []balance.Change, own []balance.Interval, reached *uint64) {
	for _, c := range list {
		if c.Clock > *reached {
			return
		}
		t := target{c.Key, c.Parent}
		if g.seen[t] || !concerns(c, own) || g.wait != nil && g.wait(c) {
			continue
		}
		if g.full() {
			*reached = c.Clock - 1
			return
		}
		weight, _ := g.weight(c.Key)
		g.add(Entry{Key: c.Key, Parent: c.Parent, clock: c.Clock, weight: weight})
	}
}

// fill adds the items of the own keys from lo on. It returns the offset after the last
// item added, or 0 if there are no more items.
func (g *gathering) fill(own []balance.Interval, lo balance.Key) uint64 {
	last := uint64(0)
	for _, v := range own {
		if v.Hi < lo {
			continue
		}
		more := false
		g.items.Ascend(max(lo, v.Lo), v.Hi, func(k balance.Key, w uint32) bool {
			if g.full() {
				more = true
				return false
			}
			g.add(Entry{Key: k, weight: w})
			last = uint64(k) + 1
			return true
		})
		if more {
			return max(last, uint64(lo))
		}
	}
	return 0
}

// residue returns the first keys of a list that have at most limit items.
func (g *gathering) residue(list []balance.Interval, limit int) []balance.Interval {
	var out []balance.Interval
	for _, v := range list {
		more := false
		g.items.Ascend(v.Lo, v.Hi, func(k balance.Key, _ uint32) bool {
			if limit--; limit < 0 {
				more, v.Hi = true, k-1
			}
			return !more
		})
		if v.Lo <= v.Hi {
			out = append(out, v)
		}
		if more {
			break
		}
	}
	return out
}

func (g *gathering) weight(k balance.Key) (uint32, bool) {
	var weight uint32
	found := false
	if k != 0 {
		g.items.Ascend(k, k, func(_ balance.Key, w uint32) bool {
			weight, found = w, true
			return false
		})
	}
	return weight, found
}

// concerns reports whether c must be sent to a slave that has the own keys.
func concerns(c balance.Change, own []balance.Interval) bool {
	if c.Key != 0 {
		return balance.Contains(own, c.Key)
	}
	return balance.Overlaps(own, c.Items)
}

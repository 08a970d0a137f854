package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/fault"
)

// condemnedSlices has the slices whose copies differ from the source of truth, until
// their slaves no longer report them.
type condemnedSlices map[sentence]*condemnation

type sentence struct {
	slave string
	slice uint64
}

type condemnation struct {
	balance.Discard
	since time.Duration
	next  time.Duration // no order is sent before this time
}

// discardGap is the time between two orders to discard the same slice.
const discardGap = 5 * time.Second

// Discard orders a slave to stop serving a slice.
func (q *Verifier) Discard(now time.Duration, slave string, c *Comparison, what string) {
	reason := "its copy differs from the source of truth: " + what
	q.condemned[sentence{slave, c.Id}] = &condemnation{
		Discard: balance.Discard{Slave: slave, Slice: c.Id, Generation: c.Generation, Lo: c.All.Lo, Hi: c.All.Hi, Reason: reason}, since: now,
	}
	q.Trouble(fault.Newf(fault.Corrupt, "balance: certify", "slave %s must discard slice %d and is refilled: %s", slave, c.Id, reason))
	q.Record(now, cluster.Event{Slice: c.Id, Text: fmt.Sprintf("%s must discard its copy and is refilled: %s", slave, reason)})
}

// Discards reports whether a slave has been ordered to stop serving a slice.
func (q *Verifier) Discards(slave string, slice uint64) bool {
	return q.condemned[sentence{slave, slice}] != nil
}

// orderDiscards sends the orders that are due, and forgets those that were carried out.
// An order has the slice as the slave last reported it: the end of a move changes the
// slice's generation, but not the data of its source.
func (q *Verifier) orderDiscards(now time.Duration) {
	for key, c := range q.condemned {
		n := q.Slaves[c.Slave]
		var h balance.Held
		claimed := n != nil
		if claimed && n.Reported {
			h, claimed = claims(n, c.Discard)
		}
		switch {
		case !claimed:
			delete(q.condemned, key)
		case now >= c.next && q.Alive(c.Slave, now):
			if c.next = now + discardGap; n.Reported {
				c.Generation, c.Lo, c.Hi = h.Generation, h.Lo, h.Hi
			}
			q.orders = append(q.orders, c.Discard)
		}
	}
	slices.SortFunc(q.orders, func(a, b balance.Discard) int {
		return cmp.Or(cmp.Compare(a.Slave, b.Slave), cmp.Compare(a.Slice, b.Slice))
	})
}

// claims returns the entry for a slice in a slave's table that the slave was ordered to
// discard; ok is false if it is no longer there.
func claims(n *cluster.Slave, d balance.Discard) (h balance.Held, ok bool) {
	i := slices.IndexFunc(n.Table.Slices, func(h balance.Held) bool {
		return h.State == balance.Full && h.ID == d.Slice && h.Generation >= d.Generation
	})
	if i < 0 {
		return balance.Held{}, false
	}
	return n.Table.Slices[i], true
}

// list returns the condemned slices, in the order of slaves and slices.
func (c condemnedSlices) list(now time.Duration) []Condemned {
	keys := slices.SortedFunc(maps.Keys(c), func(a, b sentence) int {
		return cmp.Or(cmp.Compare(a.slave, b.slave), cmp.Compare(a.slice, b.slice))
	})
	out := make([]Condemned, len(keys))
	for i, k := range keys {
		out[i] = Condemned{Slave: k.slave, Slice: k.slice, Reason: c[k].Reason, For: now - c[k].since}
	}
	return out
}

// DiscardsAny reports whether a slave has been ordered to discard any slice.
func (q *Verifier) DiscardsAny(slave string) bool {
	for key := range q.condemned {
		if key.slave == slave {
			return true
		}
	}
	return false
}

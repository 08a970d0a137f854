package delivery

import (
	"cmp"
	"slices"
	"time"

	"adshard/balance"
)

// deferral is a stream's list of items that were sent a moment ago and are too large to be sent
// again for each change. Their changes wait, while changes of other items are sent. A bucket
// ends before the first waiting change, even if it has later changes. So no slave reports a
// position that is past a change that it lacks, and a distributor that takes over at that
// position, because the other distributor or the slave has died, needs to know nothing of what
// waited. When the wait is over, the newest state of the item is sent once.
type deferral struct {
	allowed bool
	items   map[balance.Key]*recent
}

// recent is an item that was sent a moment ago.
type recent struct {
	until time.Duration // its changes wait until this time
	since uint64        // the clock of its first change that waits; 0 if none does
}

const (
	// leastPause is the shortest pause: quanta are not sent more often.
	leastPause = 10 * time.Millisecond
	// maxDeferred bounds the number of items in a stream's list. Changes of further items are
	// not deferred.
	maxDeferred = 1 << 10
)

// Defer allows changes of a slave's large items to be deferred. The slave must know that a
// bucket need not lead to the newest change (Deferred).
func (d *Distributor[P]) Defer(slave string) {
	if s, ok := d.streams[slave]; ok {
		s.later.allowed = true
	}
}

// Deferred reports whether some changes for a slave wait and are not in its buckets.
func (d *Distributor[P]) Deferred(slave string) bool {
	s, ok := d.streams[slave]
	return ok && s.later.some()
}

func (l *deferral) some() bool {
	for _, i := range l.items {
		if i.since > 0 {
			return true
		}
	}
	return false
}

// told returns the clock at which a bucket ends: the clock before the first waiting change, or
// ahead if there is none. The bucket has all other changes up to ahead. own has the keys that
// the slave has after the bucket, and taken what is in the bucket.
func (l *deferral) told(ahead uint64, own []balance.Interval, taken map[target]bool) uint64 {
	for k, i := range l.items {
		if i.since > 0 && !taken[target{key: k}] && balance.Contains(own, k) {
			ahead = min(ahead, i.since-1)
		}
	}
	return ahead
}

// keep forgets the items that a slave no longer has. If they come back, they are sent when their
// slice is filled.
func (l *deferral) keep(own []balance.Interval) {
	for k := range l.items {
		if !balance.Contains(own, k) {
			delete(l.items, k)
		}
	}
}

// deferred drops the items whose pause is over. If send is set, it also gathers those of them
// that have changed, beginning with the change that has waited longest.
func (d *Distributor[P]) deferred(s *stream[P], g *gathering, own []balance.Interval, send bool) {
	l := &s.later
	var due []balance.Key
	for k, i := range l.items {
		switch over := i.until <= d.now || d.alone; {
		case over && (i.since == 0 || i.since > s.ahead):
			delete(l.items, k) // changes that waited for a bucket that failed, or was cut, are among the changes to come
		case over && send && balance.Contains(own, k):
			due = append(due, k)
		}
	}
	slices.SortFunc(due, func(a, b balance.Key) int { return cmp.Compare(l.items[a].since, l.items[b].since) })
	for _, k := range due {
		if g.full() {
			break
		}
		weight, _ := g.weight(k)
		g.add(Entry{Key: k, clock: l.items[k].since, weight: weight})
	}
	if len(l.items) > 0 {
		g.wait = func(c balance.Change) bool { return d.postpone(l, c) }
	}
}

// postpone reports whether a change must wait, and notes the clock of an item's first such
// change.
func (d *Distributor[P]) postpone(l *deferral, c balance.Change) bool {
	i := l.items[c.Key]
	if i == nil || c.Key == 0 || i.until <= d.now || d.alone {
		return false
	}
	if i.since == 0 {
		if !l.some() {
			d.made++ // wakes slaves that wait
		}
		i.since = c.Clock
	}
	return true
}

// sent notes which items were sent to a slave because they had changed. Their next changes wait,
// for longer the larger the item is.
func (d *Distributor[P]) sent(s *stream[P], entries []Entry) {
	g := gathering{items: d.items}
	for _, e := range entries {
		if e.Key == 0 || !e.Changed() {
			continue
		}
		delete(s.later.items, e.Key)
		weight, _ := g.weight(e.Key)
		pause := min(d.cfg.Pause, time.Duration(float64(weight)*d.perUnit/float64(d.cfg.Repeat)*float64(time.Second)))
		if pause < leastPause || !s.later.allowed || len(s.later.items) >= maxDeferred {
			continue
		}
		if s.later.items == nil {
			s.later.items = make(map[balance.Key]*recent)
		}
		s.later.items[e.Key] = &recent{until: d.now + pause}
	}
}

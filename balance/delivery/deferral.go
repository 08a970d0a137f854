package delivery

import (
	"cmp"
	"slices"
	"time"

	"adshard/balance"
)

// deferral is a stream's list of items that were sent a moment ago and are too large to
// be sent for each of their changes: these wait, while those of other items are sent. A
// bucket ends before the first change that waits, whatever it contains besides, so no
// position that a slave reports is past a change that it lacks; and a distributor that
// begins there, since the other one or the slave has died, has nothing to know of
// what waited. The end of the waiting sends the newest state, once.
type deferral struct {
	allowed bool
	items   map[balance.Key]*recent
}

// recent is an item that was sent a moment ago.
type recent struct {
	until time.Duration // its changes wait until then
	since uint64        // the clock of the first change that waits; 0: none does
}

const (
	// leastPause is the least time to wait: quanta come no faster.
	leastPause = 10 * time.Millisecond
	// maxDeferred bounds the items of a stream that wait, or would; changes of others are
	// not deferred.
	maxDeferred = 1 << 10
)

// Defer allows that changes of a slave's large items are deferred. It has to know that a
// bucket need not lead to the newest change (Deferred).
func (d *Distributor[P]) Defer(slave string) {
	if s, ok := d.streams[slave]; ok {
		s.later.allowed = true
	}
}

// Deferred reports whether changes wait that are not in the buckets of a slave.
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

// told is the end of a bucket that leaves no change up to ahead out, but those that wait:
// the clock before the first of these. own are the keys of the slave after it, and taken
// is what the bucket contains.
func (l *deferral) told(ahead uint64, own []balance.Interval, taken map[target]bool) uint64 {
	for k, i := range l.items {
		if i.since > 0 && !taken[target{key: k}] && balance.Contains(own, k) {
			ahead = min(ahead, i.since-1)
		}
	}
	return ahead
}

// keep forgets the items that a slave has no more: if they come back, it is with the
// filling of their slice.
func (l *deferral) keep(own []balance.Interval) {
	for k := range l.items {
		if !balance.Contains(own, k) {
			delete(l.items, k)
		}
	}
}

// deferred has the changes of items that were just sent wait. If send is set it also gathers the
// items that have waited for long enough, the longest first.
func (d *Distributor[P]) deferred(s *stream[P], g *gathering, own []balance.Interval, send bool) {
	l := &s.later
	var due []balance.Key
	for k, i := range l.items {
		switch over := i.until <= d.now || d.alone; {
		case over && (i.since == 0 || i.since > s.ahead):
			delete(l.items, k) // what waited for a bucket that failed, or was cut, is among the changes to come
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

// postpone reports whether a change waits, and notes the first one of its item.
func (d *Distributor[P]) postpone(l *deferral, c balance.Change) bool {
	i := l.items[c.Key]
	if i == nil || c.Key == 0 || i.until <= d.now || d.alone {
		return false
	}
	if i.since == 0 {
		if !l.some() {
			d.made++ // for slaves that wait
		}
		i.since = c.Clock
	}
	return true
}

// sent notes what was sent to a slave because it had changed. From now on its changes
// wait, for longer the larger it is.
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

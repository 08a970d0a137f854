package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
)

// recheck compares all data that a slave serves with the source of truth, before the scrub does, since the
// slave's store was opened without having been closed. It keeps keys and not slices, so that splits and
// merges in the meantime do not matter. Keys that the slave gives away in the meantime are not compared.
type recheck struct {
	slave  string
	open   []balance.Interval // keys that are still to be compared, those of the hottest slice first
	checks []*Comparison      // comparisons under way
	// total is the number of slices at the beginning.
	total int
	began bool // open has been filled
	told  bool // the end has been logged
}

// RecheckState is the progress in comparing the data of a slave whose store was opened without having been
// closed.
type RecheckState struct {
	Slave string
	// Compared is the number of slices that have been compared, of Slices.
	Slices, Compared int
}

// done reports whether everything was compared.
func (r *recheck) done() bool { return r.began && len(r.open) == 0 && len(r.checks) == 0 }

// state returns the progress.
func (r *recheck) state() RecheckState {
	if !r.began {
		return RecheckState{Slave: r.slave, Slices: 1} // the number is not known yet
	}
	rest := min(r.total, len(r.open)+len(r.checks)) // a slice that was split is counted more than once in the sum
	return RecheckState{Slave: r.slave, Slices: r.total, Compared: r.total - rest}
}

// recheckStatus returns the progress of the rechecks that are not done, in the order of slaves' names.
func (q *Verifier) recheckStatus() (list []RecheckState) {
	for _, name := range slices.Sorted(maps.Keys(q.rechecks)) {
		if r := q.rechecks[name]; !r.done() {
			list = append(list, r.state())
		}
	}
	return list
}

// SetUnverified begins to compare all data of a slave, from the beginning if it had begun before. If `is`
// is false, it stops comparing them.
func (q *Verifier) SetUnverified(name string, is bool) {
	if r := q.rechecks[name]; r != nil {
		q.without(r.checks, func(*Comparison) bool { return true })
		delete(q.rechecks, name)
	}
	if is {
		q.rechecks[name] = &recheck{slave: name}
	}
}

// recheckOn begins the comparisons that are due next.
func (q *Verifier) recheckOn(now time.Duration) {
	if q.Model == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(q.rechecks)) {
		r := q.rechecks[name]
		if r.done() {
			q.rechecked(now, r)
			continue
		}
		if !q.Alive(name, now) || !q.Slave(name).Reported {
			continue
		}
		if !r.began {
			q.beginRecheck(now, r)
		}
		for free := freeShares(r.checks); free > 0 && len(r.open) > 0; {
			if c := q.nextRecheck(r); c != nil {
				free -= c.share()
			}
		}
	}
}

// beginRecheck lists the slices that the slave serves, the hottest first.
func (q *Verifier) beginRecheck(now time.Duration, r *recheck) {
	var list []balance.Slice
	load := make(map[uint64]float64)
	for _, h := range q.Slave(r.slave).Table.Slices {
		if s, ok := q.Slice(h.ID); ok && h.State == balance.Full {
			list = append(list, s)
			load[s.ID] = q.Measured(s)
		}
	}
	slices.SortStableFunc(list, func(a, b balance.Slice) int { return cmp.Compare(load[b.ID], load[a.ID]) })
	for _, s := range list {
		r.open = append(r.open, balance.Interval{Lo: s.Lo, Hi: s.Hi})
	}
	r.total, r.began = len(r.open), true
	if r.total > 0 {
		q.Record(now, cluster.Event{Name: r.slave, Text: fmt.Sprintf("its store was not closed: %s to be compared with the source of truth", cluster.Counted(r.total, "slice"))})
	}
}

// nextRecheck begins to compare the next keys. It returns nil if the slave no longer serves them, or their
// move compares them.
func (q *Verifier) nextRecheck(r *recheck) *Comparison {
	v := r.open[0]
	s := q.Model.At(v.Lo)
	part := balance.Interval{Lo: v.Lo, Hi: min(v.Hi, s.Hi)}
	if r.open = r.open[1:]; part.Hi < v.Hi {
		r.open = slices.Insert(r.open, 0, balance.Interval{Lo: part.Hi + 1, Hi: v.Hi})
	}
	if s.Move.Phase != balance.NoMove || !q.comparable(r.slave, s) {
		return nil
	}
	c := &Comparison{Purpose: rechecking, Target: r.slave, Id: s.ID, Generation: s.Generation, All: part}
	c.begin(q.Cluster, part.Lo)
	r.checks = append(r.checks, c)
	q.Enqueue(c)
	return c
}

// comparable reports whether a slave should still be asked about a slice.
func (q *Verifier) comparable(name string, s balance.Slice) bool {
	return q.Serves(name, s) && !q.Discards(name, s.ID)
}

// recheckCompares reports whether an answer should be judged. If the slice has changed, the rest of its
// keys is compared again. Data that another version built cannot be compared.
func (q *Verifier) recheckCompares(c *Comparison, a balance.Certified) bool {
	s := q.Model.At(c.part.Lo)
	switch {
	case s.ID != c.Id || s.Generation != c.Generation || !q.comparable(c.Target, s):
		r := q.rechecks[c.Target]
		r.open = append(r.open, balance.Interval{Lo: c.part.Lo, Hi: c.All.Hi})
	case a.Target.Builder != a.Truth.Builder && a.Target.Items > 0:
	case c.asks >= maxTries: // it changes too often; the scrub will compare it
	default:
		return true
	}
	q.dropRecheck(c)
	return false
}

// rechecked logs, once, that everything was compared.
func (q *Verifier) rechecked(now time.Duration, r *recheck) {
	if !r.told && r.total > 0 {
		q.Record(now, cluster.Event{Name: r.slave, Text: fmt.Sprintf("its store was not closed: %s compared with the source of truth", cluster.Counted(r.total, "slice"))})
	}
	r.told = true
}

// dropRecheck removes a comparison that is done or was given up.
func (q *Verifier) dropRecheck(c *Comparison) {
	r := q.rechecks[c.Target]
	r.checks = q.without(r.checks, func(o *Comparison) bool { return o == c })
}

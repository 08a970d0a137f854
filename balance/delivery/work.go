package delivery

import (
	"adshard/balance"
)

// Work returns what must be read or built now. Each request is returned once. Buckets that need no request are
// made on the way. Built, Fetched and Failed take the answers.
func (d *Distributor[P]) Work() Work {
	var w Work
	for _, name := range d.order {
		d.advance(d.streams[name], &w)
	}
	return w
}

// Built takes the result of a Build. A result that is no longer expected is ignored.
func (d *Distributor[P]) Built(b Built[P]) {
	s, ok := d.streams[b.Slave]
	if !ok || s.job == nil || s.job.seq != b.Seq {
		return
	}
	j := s.job
	s.job = nil
	d.learn(j.entries[:b.Entries], b.Bytes)
	bucket := Bucket[P]{From: j.from, To: j.next.to, Cleared: j.next.cleared, Payload: b.Payload, Bytes: b.Bytes}
	table, ahead := j.next.table, j.next.clock
	d.sent(s, j.entries[:b.Entries])
	if b.Entries < len(j.entries) {
		table = j.next.begun
		bucket.To, ahead = s.cut(j, b.Entries)
		bucket.Cleared = balance.Within(table.In(balance.Filling), balance.Key(j.next.offset), bucket.To.Offset)
	}
	d.forget(s, ahead)
	d.push(s, bucket, table, ahead)
	s.fit(&j.next)
}

// learn updates the estimate of the bytes per unit of weight.
func (d *Distributor[P]) learn(entries []Entry, bytes int) {
	var weight uint64
	for _, e := range entries {
		weight += uint64(e.weight)
	}
	rest := bytes - entryBytes*len(entries)
	if weight > 0 && rest > 0 {
		d.perUnit = max(1, 0.7*d.perUnit+0.3*float64(rest)/float64(weight))
	}
}

// Fetched takes the result of a Fetch. If the changes are gone, the slave is filled again from scratch.
func (d *Distributor[P]) Fetched(f Fetched) {
	s, ok := d.streams[f.Slave]
	if !ok || s.fetch == 0 || s.fetch != f.Seq {
		return
	}
	s.fetch = 0
	if f.Stale {
		s.restart()
		return
	}
	s.older = f.Changes
	if n := len(f.Changes); n > 0 {
		s.olderTo = f.Changes[n-1].Clock
	}
	if len(f.Changes) < d.cfg.Entries {
		// There were no more changes when they were read.
		s.olderTo = max(s.olderTo, s.fetchTo)
	}
}

// Failed says that a Build or Fetch failed. Work then returns it again.
func (d *Distributor[P]) Failed(slave string, seq uint64) {
	s, ok := d.streams[slave]
	switch {
	case !ok:
	case s.job != nil && s.job.seq == seq:
		s.job = nil
	case s.fetch == seq:
		s.fetch = 0
	}
}

// cut returns the end of a bucket that has only the first n entries, and the clock that it reaches.
func (s *stream[P]) cut(j *job, n int) (to balance.Position, ahead uint64) {
	to, ahead = j.next.to, j.next.clock
	to.Offset = j.next.offset
	switch c := j.entries[n].clock; {
	case c > s.ahead: // the bucket has everything before the first change that is left out
		ahead = c - 1
	case c > 0: // the change was deferred, and still is
		ahead = s.ahead
	case n > 0 && j.entries[n-1].clock == 0:
		to.Offset = uint64(j.entries[n-1].Key) + 1
	}
	to.Clock = s.later.told(ahead, j.next.begun.Delivered(j.next.offset), nil)
	return to, ahead
}

// advance makes buckets for a stream until it must wait for something.
func (d *Distributor[P]) advance(s *stream[P], w *Work) {
	for s.known && s.job == nil && s.fetch == 0 && len(s.queue) < d.cfg.Ahead && s.bytes < d.cfg.NodeBytes {
		if s.settled && s.end.Clock == d.head {
			return
		}
		if s.reset || s.end == (balance.Position{}) {
			d.begin(s)
			continue
		}
		if s.end.Clock > d.head || s.end.Epoch == d.cfg.Epoch && s.end.Quantum > d.number {
			return // another distributor has seen changes or quanta that have not arrived here yet
		}
		if !d.following(s) {
			d.seq++
			s.fetch, s.fetchTo = d.seq, d.log.base
			w.Fetches = append(w.Fetches, Fetch{Slave: s.name, Seq: s.fetch, After: s.ahead, Limit: d.cfg.Entries})
			return
		}
		entries, n := d.gather(s)
		if n.to.Compare(s.end) <= 0 {
			return // the stream waits for the next quantum
		}
		if len(entries) > 0 {
			d.seq++
			s.job = &job{seq: d.seq, entries: entries, from: s.end, next: n}
			w.Builds = append(w.Builds, Build{
				Slave: s.name, Seq: d.seq, Clock: n.clock, Entries: entries, MaxBytes: d.bucketBytes(s),
			})
			return
		}
		same := s.end
		same.Quantum = n.to.Quantum
		if s.settled = n.to == same && len(n.cleared) == 0 && n.table.Equal(s.table); s.settled {
			return // an empty quantum alone is not worth a write on the slave
		}
		d.forget(s, n.clock)
		d.push(s, Bucket[P]{From: s.end, To: n.to, Cleared: n.cleared}, n.table, n.clock)
		s.fit(&n)
	}
}

// begin makes the first bucket for a slave that is filled from scratch: the slave holds all slices assigned to
// it, but serves none. It also resets slaves that report no data, since a slave whose data are damaged may
// report this too.
func (d *Distributor[P]) begin(s *stream[P]) {
	table := balance.Table{}.Toward(s.want, true)
	to := balance.Position{Epoch: d.cfg.Epoch, Clock: d.head, Quantum: d.number}
	if len(table.Slices) > 0 {
		to.Offset = 1
	}
	clear(s.later.items)
	d.push(s, Bucket[P]{From: s.end, Reset: true, To: to}, table, to.Clock)
}

// following reports whether the changes that the stream must send next are available, or do not concern the
// slave.
func (d *Distributor[P]) following(s *stream[P]) bool {
	return s.ahead >= d.log.base || s.ahead < s.olderTo || len(s.table.Delivered(s.end.Offset)) == 0
}

// forget drops fetched changes once they were sent.
func (d *Distributor[P]) forget(s *stream[P], clock uint64) {
	if clock >= s.olderTo {
		s.older, s.olderTo = nil, 0
	}
}

// pending returns the changes that may be processed and were not sent, except those that are deferred. reached
// is the clock after all of them.
func (d *Distributor[P]) pending(s *stream[P]) (list []balance.Change, reached uint64) {
	if list, ok := d.log.after(s.ahead); ok {
		return list, d.head
	}
	if s.ahead >= s.olderTo {
		return nil, d.head // they concern no item that the slave has
	}
	older := changeLog{base: s.ahead, list: s.older}
	list, _ = older.after(s.ahead)
	return list, min(d.head, s.olderTo)
}

// gather returns the entries of the stream's next bucket, and the effect of the bucket.
func (d *Distributor[P]) gather(s *stream[P]) ([]Entry, next) {
	g := gathering{limit: d.cfg.Entries, budget: float64(d.bucketBytes(s)), perUnit: d.perUnit, items: d.items}
	n := next{begun: s.table, offset: s.end.Offset, wants: s.wants, whole: s.whole}
	if !s.fits {
		n.begun = s.table.Toward(s.want, false)
	}
	changes, reached := d.pending(s)
	own := n.begun.Delivered(n.offset)
	// In the middle of a batch, without a new quantum, a bucket must advance the clock or the offset. A bucket
	// that was cut after a deferred item would advance neither, and the slave would get it again and again.
	stays := n.offset != 0 && s.end.Epoch == d.cfg.Epoch && s.end.Quantum == d.number
	d.deferred(s, &g, own, !stays)
	g.changes(changes, own, &reached)
	n.clock = reached
	n.to = balance.Position{Epoch: d.cfg.Epoch, Clock: s.later.told(reached, own, nil), Quantum: d.number, Offset: n.offset}
	if stays && len(g.entries) > 0 && n.to.Compare(s.end) <= 0 {
		return nil, n // waiting changes hold the clock, and without a higher clock there is no progress until the next quantum
	}
	n.to.Clock = s.later.told(reached, own, g.seen)
	if n.offset != 0 && len(n.begun.In(balance.Filling)) == 0 {
		n.offset = 0 // no key that was left of the batch is wanted any more
	}
	// A batch, or a piece of residue, begins after the offset 0, which comes last for its clock and quantum. So
	// it waits for the next clock or quantum.
	later := n.to
	later.Offset = 1
	idle := n.offset == 0 && later.Compare(s.end) > 0
	if idle && !n.whole {
		n.begun, n.whole = n.begun.Toward(s.want, true), true
		if len(n.begun.In(balance.Filling)) > 0 {
			n.offset, n.whole = 1, false
		}
	}
	n.table, n.to.Offset = n.begun, n.offset
	switch {
	case n.offset != 0 && reached >= d.head:
		filling := n.begun.In(balance.Filling)
		n.to.Offset = g.fill(filling, balance.Key(n.offset))
		n.cleared = balance.Within(filling, balance.Key(n.offset), n.to.Offset)
		if n.to.Offset == 0 {
			n.table = n.begun.Completed(s.want)
		}
	case idle && !g.full() && !s.keep:
		n.cleared = g.residue(n.begun.In(balance.Residue), max(1, d.cfg.Entries/4))
		n.table = n.begun.Without(n.cleared)
	}
	return g.entries, n
}

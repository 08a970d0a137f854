package balance

// Work returns what must be read or built now, each thing once; buckets that
// need neither are made on the way. Answers are Built, Fetched or Failed.
func (d *Distributor[P]) Work() Work {
	var w Work
	for _, name := range d.order {
		d.advance(d.streams[name], &w)
	}
	return w
}

// Built takes what was built. An answer that nobody waits for is ignored.
func (d *Distributor[P]) Built(b Built[P]) {
	s, ok := d.streams[b.Node]
	if !ok || s.job == nil || s.job.seq != b.Seq {
		return
	}
	j := s.job
	s.job = nil
	d.learn(j.entries[:b.Entries], b.Bytes)
	to, table := j.next.to, j.next.table
	if b.Entries < len(j.entries) {
		to, table = j.cut(b.Entries), nil
	}
	d.forget(s, to.Clock)
	d.push(s, Bucket[P]{From: j.from, To: to, Table: table, Payload: b.Payload, Bytes: b.Bytes})
}

// learn mends the estimate of bytes for each unit of weight.
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

// Fetched takes older changes. When they are gone, the node is filled again.
func (d *Distributor[P]) Fetched(f Fetched) {
	s, ok := d.streams[f.Node]
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
		// There was no more when it was read.
		s.olderTo = max(s.olderTo, s.fetchTo)
	}
}

// Failed says that a Build or Fetch could not be done; Work gives it again.
func (d *Distributor[P]) Failed(node string, seq uint64) {
	s, ok := d.streams[node]
	switch {
	case !ok:
	case s.job != nil && s.job.seq == seq:
		s.job = nil
	case s.fetch == seq:
		s.fetch = 0
	}
}

// cut is where a bucket ends that took only the first n entries.
func (j *job) cut(n int) Position {
	to := j.next.to
	if c := j.entries[n].clock; c > 0 {
		// Everything before the first change that is left out is in.
		to.Clock, to.Offset = c-1, j.from.Offset
		return to
	}
	to.Clock, to.Offset = j.next.clock, j.from.Offset
	if n > 0 && j.entries[n-1].clock == 0 {
		to.Offset = uint64(j.entries[n-1].Key) + 1
	}
	return to
}

// advance makes buckets of a stream until something must be awaited.
func (d *Distributor[P]) advance(s *stream[P], w *Work) {
	for s.node != 0 && s.job == nil && s.fetch == 0 && len(s.queue) < d.cfg.Ahead && s.bytes < d.cfg.NodeBytes {
		if s.reset || s.end == (Position{}) {
			d.begin(s)
			continue
		}
		if s.end.Clock > d.head {
			return // it knows changes of an earlier epoch that are still to arrive here
		}
		if !d.following(s) {
			d.seq++
			s.fetch, s.fetchTo = d.seq, d.log.base
			w.Fetches = append(w.Fetches, Fetch{Node: s.name, Seq: s.fetch, After: s.end.Clock, Limit: d.cfg.Entries})
			return
		}
		entries, n := d.gather(s)
		if len(entries) > 0 {
			d.seq++
			s.job = &job{seq: d.seq, entries: entries, from: s.end, next: n}
			w.Builds = append(w.Builds, Build{
				Node: s.name, Seq: d.seq, Clock: n.clock, Entries: entries, MaxBytes: d.bucketBytes(s),
			})
			return
		}
		if n.table == nil && n.to.Epoch == s.end.Epoch && n.to.Clock == s.end.Clock && n.to.Offset == s.end.Offset {
			return // nothing new: an empty quantum alone is not worth a write on the node
		}
		d.forget(s, n.to.Clock)
		d.push(s, Bucket[P]{From: s.end, To: n.to, Table: n.table})
	}
}

// begin makes the first bucket of a filling: the slices, held, not served. It
// resets nodes that say they are empty too: one whose data are damaged says so.
func (d *Distributor[P]) begin(s *stream[P]) {
	table := s.want.onlyHeld()
	d.push(s, Bucket[P]{
		From: s.end, Reset: true, Table: &table,
		To: Position{Epoch: d.cfg.Epoch, Clock: d.head, Quantum: d.changed, Offset: 1},
	})
}

// following tells whether the changes after the stream's end are at hand.
func (d *Distributor[P]) following(s *stream[P]) bool {
	return s.end.Clock >= d.log.base || s.end.Clock < s.olderTo
}

// forget drops fetched changes once they are sent.
func (d *Distributor[P]) forget(s *stream[P], clock uint64) {
	if clock >= s.olderTo {
		s.older, s.olderTo = nil, 0
	}
}

// pending returns the changes after the stream's end that may be processed,
// and the clock that is reached with all of them.
func (d *Distributor[P]) pending(s *stream[P]) (list []Change, reached uint64) {
	if list, ok := d.log.after(s.end.Clock); ok {
		return list, d.head
	}
	older := changeLog{base: s.end.Clock}
	older.list = s.older
	list, _ = older.after(s.end.Clock)
	return list, min(d.head, s.olderTo)
}

// gather returns the entries of the stream's next bucket and where it leads:
// first the changes of what the node has been given, then, when it is still
// being filled and all changes are in, the next items by rising key.
func (d *Distributor[P]) gather(s *stream[P]) ([]Entry, next) {
	g := gathering{limit: d.cfg.Entries, budget: float64(d.bucketBytes(s)), perUnit: d.perUnit, items: d.items}
	own := below(d.coverage[s.node], s.end.Offset)
	changes, reached := d.pending(s)
	g.changes(changes, own, &reached)
	n := next{
		clock: reached,
		to:    Position{Epoch: d.cfg.Epoch, Clock: reached, Quantum: d.number, Offset: s.end.Offset},
	}
	switch {
	case s.end.Offset == 0:
		if want := s.want; !s.table.Equal(want) {
			n.table = &want
		}
	case reached >= d.head:
		n.to.Quantum = d.changed
		n.to.Offset = g.fill(d.coverage[s.node], Key(s.end.Offset))
		if want := s.want; n.to.Offset == 0 {
			n.table = &want
		} else if held := want.onlyHeld(); !s.table.Equal(held) {
			n.table = &held
		}
	default:
		n.to.Quantum = d.changed
	}
	return g.entries, n
}

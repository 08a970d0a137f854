package barrels

import (
	"context"
	"math"
	"time"

	"adshard/barrels/index"
	"adshard/schema/pb"
)

// upkeep is the progress of background work. A pass visits all groups, then all blocks, in steps of
// one batch each, so that buckets can be applied in between. An interrupted pass resumes where it
// stopped.
type upkeep struct {
	// changed is the number of changes since the last pass began. It is unknown if the store was
	// opened or refilled since.
	changed int64
	// written is the number of changes since the store was last compacted. seen is its value at the
	// previous step, and since is the time at which it got that value.
	written, seen int64
	since         time.Time
	phase         phase
	cursor        []byte // where the phase continues
	// used are the parents found while sweeping, or nil if no sweep is under way.
	used *usedParents
}

// unknown stands for an unknown number of changes.
const unknown = math.MaxInt64

type phase uint8

const (
	idle     phase = iota
	sweeping       // parents without groups, bounds of modifiers, terms
	anchoring
	packing
	compacting
)

// enough is the inverse of the share of groups that must have changed before a pass begins, since a
// pass reads all groups.
const enough = 20

// countChanges counts the changes in an applied bucket.
func (u *upkeep) countChanges(d *pb.NodeData) {
	if d.Reset_ {
		u.changed = unknown
	}
	u.add(len(d.Items) + len(d.Deleted) + len(d.Campaigns) + len(d.Advertisers))
	if u.used != nil { // the sweep may already have passed these groups' keys
		u.used.addBucket(d)
	}
}

// add counts changed groups and parents.
func (u *upkeep) add(changes int) {
	n := int64(changes)
	u.written += n
	if u.changed < unknown-n {
		u.changed += n
	}
}

// stepTime is about the longest time of a step, and so the longest that a bucket waits for one. A
// pause of the same length follows each step, so that a pass takes at most half a core and half of
// what the disk gives one reader.
const stepTime = 4 * time.Millisecond

// busyPause is the pause after a step, as a multiple of the step, while buckets are being applied
// and for busyTime afterwards. Under a steady stream of buckets one pass follows another; shorter
// pauses would constantly take half a core from applying and searching.
const (
	busyPause = 16
	busyTime  = time.Second
)

// pause returns how long to wait after a step.
func (u *upkeep) pause(took time.Duration) time.Duration {
	if u.written != u.seen {
		u.seen, u.since = u.written, time.Now()
	}
	if took = min(took, stepTime); time.Since(u.since) < busyTime {
		return busyPause * took
	}
	return took
}

// stepClock reports when a step has taken long enough, and yields to searches.
type stepClock struct {
	pace  *pacer
	start time.Time
	calls int
}

func (c *stepClock) over() bool {
	if c.calls++; c.calls%stepLook != 0 {
		return false
	}
	if c.start.IsZero() {
		c.start = time.Now()
	}
	c.pace.yield()
	return time.Since(c.start) > stepTime
}

// stepLook is the number of items that a step handles between two readings of the clock.
const stepLook = 8

// Maintain implements Store. It returns nil if nothing is left to do or ctx has ended. A pass
// begins when one group in twenty has changed.
func (s *barrel) Maintain(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		pause, more, err := s.step()
		if err != nil || !more {
			return err
		}
		timer.Reset(pause)
		if !s.compact(ctx) {
			return nil
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// compact compacts the DB if a pass has reached that phase. Buckets can be applied meanwhile. It
// returns false if another call is compacting.
func (s *barrel) compact(ctx context.Context) (more bool) {
	s.mu.Lock()
	if s.upkeep.phase != compacting || s.closed {
		s.mu.Unlock()
		return true
	}
	changes := s.upkeep.written
	groups := s.Newest.Load().Counters.Groups
	// Under a stream of changes the files are being rewritten anyway, so compaction is left to a
	// later pass.
	wait := changes <= groups/4 || s.upkeep.changed >= max(1, groups/enough)
	if wait || !s.compacting.TryLock() {
		if wait {
			s.upkeep.phase = idle
		}
		s.mu.Unlock()
		return wait
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.endCompact = cancel
	s.mu.Unlock()

	s.kv.Compact(ctx)
	s.compacting.Unlock()

	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() == nil && s.upkeep.phase == compacting {
		s.upkeep.written -= changes
		s.upkeep.phase = idle
	}
	return ctx.Err() == nil
}

// stopCompact ends a compaction that is under way. The caller has mu.
func (s *barrel) stopCompact() {
	if s.endCompact != nil {
		s.endCompact()
		s.endCompact = nil
	}
	s.compacting.Lock() // waits until it has ended
	defer s.compacting.Unlock()
}

// step does one batch of work and returns how long to pause after it.
func (s *barrel) step() (pause time.Duration, more bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, false, s.errClosed("barrels: maintain")
	}
	if err := s.reopen(); err != nil {
		return 0, false, err
	}
	start := time.Now()
	more, err = s.work()
	return s.upkeep.pause(time.Since(start)), more, err
}

// work does the work of one step.
func (s *barrel) work() (more bool, err error) {
	u, st := &s.upkeep, s.Newest.Load()
	next := func(p phase) { u.phase, u.cursor = p, nil }
	if len(st.Purge) > 0 { // blocks must not be joined across purged intervals
		next(idle)
		return false, nil
	}
	switch u.phase {
	case idle:
		if u.changed == 0 || u.changed < st.Counters.Groups/enough {
			return false, nil
		}
		u.changed = 0
		u.used = newUsedParents()
		next(sweeping)
	case sweeping:
		if u.cursor, err = s.sweep(st, u.cursor); u.cursor == nil {
			u.used = nil
			next(anchoring)
		}
	case anchoring:
		if u.cursor, err = s.reanchor(st, u.cursor); u.cursor == nil {
			next(packing)
		}
	case packing:
		if u.cursor, err = s.repack(st, u.cursor); u.cursor == nil {
			next(compacting)
		}
	case compacting: // compact does this phase
	}
	if err != nil {
		u.changed, u.used = unknown, nil
		next(idle)
	}
	return true, err
}

// settled commits a step's batch, if it has any change.
func (s *barrel) settled(old *index.Snapshot) error {
	w := s.writer
	if w.batch.Len() == 0 && !w.parentsOwned && w.terms == old.Terms {
		w.end()
		return nil
	}
	return s.commit()
}

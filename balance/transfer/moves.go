package transfer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	balancemaps "adshard/balance/maps"
	"adshard/balance/verify"
	"adshard/fault"
)

// Moves has the moving slices and their copies. A move begins, is switched and ends by changes of the
// model (Took). In between, slaves report what they have (Arrived), the verifier compares it, and its
// findings come in (Compared). Out come the operations that are due (AddDue), the slaves that leave their
// sets because of them, and the keys that must stay away from a shard (Out).
//
// It guarantees that a slice is switched only if each living slave of its target's set is certified or
// leaves the set, and if one of the certified slaves was heard from a moment ago. It also guarantees that
// a shard gives up a slice only when no master can ask it for the slice any more.
type Moves struct {
	*cluster.Cluster
	*cluster.Journal
	verify *verify.Verifier
	all    map[uint64]*activeMove // by the ids of slices
	// arriving has the copies on each slave, by the ids of slices.
	arriving map[string]map[uint64]*arrival
	// doomed are the moves to be cancelled, ready those to be switched, and leaving those to be finished,
	// in the order of their views. They may contain moves that have been dropped in the meantime.
	doomed, ready, leaving []*activeMove
	switched, finished     time.Duration // when this last happened
	counters               counters

	left      []string // slaves that leave their sets because they are late
	away      []stayAway
	emptyNext bool // all urgent moves have been switched, so more may begin
}

// stayAway is keys that must stay away from a shard for some time.
type stayAway struct {
	Shard balance.ShardID
	cluster.Rest
}

// Out returns what the planner must know. Each result is returned once.
func (m *Moves) Out() (away []stayAway, emptyNext bool) {
	away, emptyNext = m.away, m.emptyNext
	m.away, m.emptyNext = nil, false
	return away, emptyNext
}

// activeMove is a moving slice, from the start of its move to the finish.
type activeMove struct {
	id, generation uint64
	lo, hi         balance.Key
	a, b           balance.ShardID // from, to
	phase          balance.MovePhase
	view           uint64 // the first view in which b serves it, after the switch
	since          time.Duration
	progress       time.Duration // when there was last progress
	cause          cluster.Cause
	doomed         string // why it is to be cancelled, or ""

	arrivals    []*arrival    // copies on the slaves in b's set, by name
	first       time.Duration // when the first of them was certified, or 0
	isReady     bool          // it is in Moves.ready
	switching   bool          // its switch is being saved, and it can no longer be cancelled
	published   bool
	publishedAt time.Duration
}

// New returns the Moves of a cluster, without any move.
func New(c *cluster.Cluster, j *cluster.Journal, q *verify.Verifier) *Moves {
	return &Moves{Cluster: c, Journal: j, verify: q, all: map[uint64]*activeMove{}, arriving: map[string]map[uint64]*arrival{}}
}

// sorted returns the moves in the order of the ids of their slices.
func (m *Moves) sorted() []*activeMove {
	list := slices.Collect(maps.Values(m.all))
	slices.SortFunc(list, func(a, b *activeMove) int { return cmp.Compare(a.id, b.id) })
	return list
}

// matches reports whether h is the whole slice, in the state in which it is being moved.
func (v *activeMove) matches(h balance.Held) bool {
	return h.State == balance.Full && h.Generation == v.generation && h.Lo == v.lo && h.Hi == v.hi
}

// switchable reports whether the slice may be switched after an edit.
func (m *Moves) switchable(now time.Duration, v *activeMove, e *balance.Edit) bool {
	return m.all[v.id] == v && v.phase == balance.Copying && v.doomed == "" && m.agreed(now, v, e)
}

// doom marks a move for cancellation.
func (m *Moves) doom(v *activeMove, why string) {
	if v.doomed != "" {
		return
	}
	v.doomed = why
	for _, a := range v.arrivals {
		a.check.Suspend(true)
	}
	m.doomed = append(m.doomed, v)
	m.Trouble(fault.Newf(fault.Unavailable, "balance: move",
		"the move of slice %d from shard %s to shard %s is cancelled: %s", v.id, m.Name(v.a), m.Name(v.b), why))
}

// Differs ends a move if its source differs from the source of truth, or its only copy does. If there are
// several copies, the others suffice, and the one that differs is filled again.
func (m *Moves) Differs(now time.Duration, f verify.Finding) {
	v := m.all[f.Of.Id]
	if f.Source != "" || len(m.Living(v.b, now)) <= 1 {
		m.doom(v, fmt.Sprintf("the data that searches read on %s differ from the source of truth (%s)", f.Who(), cmp.Or(f.Target, f.Source)))
		return
	}
	m.uncertify(v.arrivalOn(f.Of.Target))
}

// Watch cancels moves that cannot complete, and queues those that are ready.
func (m *Moves) Watch(now time.Duration) {
	for _, v := range m.sorted() {
		if v.phase == balance.Copying && !v.switching {
			if why := m.hopeless(now, v); why != "" {
				m.doom(v, why)
			}
			m.queueIfReady(now, v)
		}
	}
}

// ViewPublished notes that the moves that switched in this view or an earlier one may end.
func (m *Moves) ViewPublished(now time.Duration, view uint64) {
	for _, v := range m.sorted() {
		if v.phase == balance.Switched && !v.published && v.view <= view {
			v.published, v.publishedAt = true, now
			m.leaving = append(m.leaving, v)
		}
	}
}

// Next returns when the moves that are ready are to be switched. It returns false if none is ready.
func (m *Moves) Next(now time.Duration) (at time.Duration, some bool) {
	if len(m.ready) == 0 {
		return 0, false
	}
	return m.due(now), true
}

// TakeLeft returns the slaves that leave their sets because they are late. Each is returned once.
func (m *Moves) TakeLeft() []string {
	left := m.left
	m.left = nil
	return left
}

// Restarted forgets what was certified of a slave that has started again.
func (m *Moves) Restarted(slave string) {
	for _, id := range slices.Sorted(maps.Keys(m.arriving[slave])) { // in order, which is the order in the queue
		m.uncertify(m.arriving[slave][id])
	}
}

// Forget drops the state of a slave that is no longer in the model.
func (m *Moves) Forget(slave string) { delete(m.arriving, slave) }

// Flights returns the state of all moves, in the order of the ids of slices. oldest is the oldest view
// that masters may use.
func (m *Moves) Flights(now time.Duration, oldest uint64) (list []Flight) {
	for _, v := range m.sorted() {
		list = append(list, m.flight(now, v, oldest))
	}
	return list
}

// FlightOf returns the state of a slice's move, or nil if the slice is not moving.
func (m *Moves) FlightOf(now time.Duration, slice, oldest uint64) *Flight {
	v := m.all[slice]
	if v == nil {
		return nil
	}
	f := m.flight(now, v, oldest)
	return &f
}

// Moved returns how much was moved so far, and when the last move ended.
func (m *Moves) Moved() (sum Moved, last time.Duration) {
	c := m.counters
	return Moved{Moves: c.moves, Cancelled: c.cancelled, Items: c.items, Bytes: c.bytes}, c.rest
}

// AnyLeaves reports whether any slice is to leave its source once masters have a view.
func (m *Moves) AnyLeaves() bool { return len(m.leaving) > 0 }

// AddDue adds to an edit the moves that are to be cancelled, switched or finished.
func (m *Moves) AddDue(now time.Duration, e *cluster.Edit, w *balancemaps.Views) {
	for _, v := range m.doomed {
		if m.all[v.id] == v && v.phase == balance.Copying {
			e.Try(func(e *balance.Edit) error { return e.Cancel(v.id) })
		}
	}
	m.doomed = nil
	if len(m.ready) > 0 && now >= m.due(now) && !w.Crowded(maxUnpublished) {
		for _, v := range m.ready {
			v.isReady = false
			if m.switchable(now, v, e.Begun) {
				m.switchOn(now, e, v)
			} else if m.all[v.id] == v {
				m.doubt(now, v)
			}
		}
		m.ready = nil
	}
	if len(m.leaving) > 0 && (e.Begun != nil || now >= m.finished+switchWait) {
		m.finish(now, e, w)
	}
}

// finish ends the moves whose slices no query needs at their sources any more.
func (m *Moves) finish(now time.Duration, e *cluster.Edit, w *balancemaps.Views) {
	done := 0
	for oldest, _ := w.OldestAsked(now); done < len(m.leaving); done++ {
		v := m.leaving[done]
		if v.view > oldest || now < v.publishedAt+m.Config.Linger {
			break
		}
		m.finished = now
		e.Try(func(e *balance.Edit) error { return e.Finish(v.id) })
	}
	m.leaving = slices.Delete(m.leaving, 0, done)
}

// due returns when the moves that are ready are to be switched.
func (m *Moves) due(now time.Duration) time.Duration {
	ready, all := len(m.ready), len(m.all)
	awaited := slices.ContainsFunc(m.ready, func(v *activeMove) bool { return m.awaited(now, v) })
	switch {
	case ready >= m.copying(), awaited && ready*switchShare >= all:
		return m.switched + switchGap
	case awaited:
		return m.switched + switchWait
	default:
		return m.switched + calmWait
	}
}

// copying returns the number of moves that are still to be switched.
func (m *Moves) copying() (n int) {
	for _, v := range m.all {
		if v.phase == balance.Copying {
			n++
		}
	}
	return n
}

// awaited reports whether something waits for a move: the slice had to leave its shard when the move
// began, or must leave it now, since the shard drains, dissolves or is lost; or an operator ordered the
// move; or balancing is paused, which waits for the end of all moves.
func (m *Moves) awaited(now time.Duration, v *activeMove) bool {
	return v.cause.Away || v.cause.Commanded || m.Hurries(v.a, now)
}

// switchOn makes the target of a move serve its slice. Slaves of the target's set that are not ready
// leave the set, and join again once they have been filled.
func (m *Moves) switchOn(now time.Duration, e *cluster.Edit, v *activeMove) {
	m.switched, v.switching = now, true
	e.Try(func(e *balance.Edit) error { return e.Switch(v.id) })
	for _, name := range m.late(now, v) {
		e.Try(func(e *balance.Edit) error {
			if !e.Keeps(name) {
				return nil
			}
			m.left = append(m.left, name)
			return e.Leave(name)
		})
	}
}

// doubt drops the certificates of slaves that are lost; they are certified again when they are back.
func (m *Moves) doubt(now time.Duration, v *activeMove) {
	for _, a := range v.arrivals {
		if a.check.Done() && !m.Alive(a.slave, now) {
			m.uncertify(a)
		}
	}
}

// Took updates the moves after a change of the model.
func (m *Moves) Took(now time.Duration, s cluster.Change) {
	still := make(map[uint64]bool, len(m.all))
	for _, v := range m.Model.Slices() {
		if v.Move.Phase == balance.NoMove {
			continue
		}
		still[v.ID] = true
		tracked := m.all[v.ID]
		switch {
		case tracked == nil:
			m.begun(now, v, s.Why.OfMove(v.ID))
		case tracked.phase == balance.Copying && v.Move.Phase == balance.Copying:
			m.greet(now, m.arrive(tracked))
		case tracked.phase == balance.Copying && v.Move.Phase == balance.Switched:
			m.noteSwitch(now, tracked, v)
		}
	}
	for _, v := range m.sorted() {
		if !still[v.id] {
			m.ended(now, v)
		}
	}
}

// begun begins to track a new move, or one that an earlier mapper started.
func (m *Moves) begun(now time.Duration, s balance.Slice, why cluster.Cause) {
	v := &activeMove{
		id: s.ID, lo: s.Lo, hi: s.Hi, generation: s.Generation, phase: s.Move.Phase, since: now, progress: now, cause: why,
	}
	m.all[s.ID] = v
	if why.Text == "" {
		from, _ := m.Model.Shard(s.Shard)
		v.cause = cluster.Cause{Text: "it was on its way when the balancer started", Away: from.State == balance.Draining || from.State == balance.Dissolving}
	}
	if s.Move.Phase == balance.Switched {
		v.a, v.b, v.view = s.Move.Other, s.Shard, s.From
		return
	}
	v.a, v.b = s.Shard, s.Move.Other
	fresh := m.arrive(v)
	m.Record(now, cluster.Event{Slice: s.ID, Step: !v.cause.Commanded,
		Text: fmt.Sprintf("begins to move from %s to %s: %s", m.Name(v.a), m.Name(v.b), v.cause.Text)})
	m.greet(now, fresh)
}

// stall returns the time without progress after which a move is cancelled. It depends on the largest item
// that a copy waits for, since an item arrives, and is compared, as a whole.
func (m *Moves) stall(v *activeMove) time.Duration {
	largest := uint32(0)
	for _, a := range v.arrivals {
		for _, part := range m.missing(a) {
			m.Items.Ascend(part.Lo, part.Hi, func(_ balance.Key, w uint32) bool { largest = max(largest, w); return true })
		}
	}
	return verify.Patience(m.Config.Stall, uint64(largest))
}

// greet checks whether new arrivals are complete already.
func (m *Moves) greet(now time.Duration, fresh []*arrival) {
	for _, a := range fresh {
		if m.Slave(a.slave).Reported {
			m.Arrived(now, a.slave)
		}
	}
}

func (m *Moves) noteSwitch(now time.Duration, v *activeMove, s balance.Slice) {
	v.phase, v.view, v.generation, v.progress = balance.Switched, s.From, s.Generation, now
	for _, a := range v.arrivals {
		m.dropArrival(a)
	}
	if v.cause.Away {
		m.emptyNext = m.emptyNext || m.copying() == 0
	} else {
		m.away = append(m.away, stayAway{v.a, cluster.Rest{
			Interval: balance.Interval{Lo: v.lo, Hi: v.hi}, Until: now + restIntervals*m.Config.IntervalOrDefault(), Load: m.Measured(s),
			Why: "left it when it moved to " + m.Name(v.b),
		}})
	}
	m.MoveStep(now, v.id, "is served by %s from view %d on", m.Name(v.b), v.view)
}

// ended records that a move was finished or cancelled.
func (m *Moves) ended(now time.Duration, v *activeMove) {
	delete(m.all, v.id)
	m.verify.ForgetMove(v.id)
	for _, a := range v.arrivals {
		m.dropArrival(a)
	}
	if v.phase == balance.Copying {
		m.counters.cancelled++
		m.away = append(m.away, stayAway{v.b, cluster.Rest{
			Interval: balance.Interval{Lo: v.lo, Hi: v.hi}, Until: now + rideIntervals*m.Config.IntervalOrDefault(), Load: -1,
			Why: "could not get there: " + v.doomed,
		}})
		m.Record(now, cluster.Event{Slice: v.id,
			Text: fmt.Sprintf("stays on %s, its move to %s is cancelled: %s", m.Name(v.a), m.Name(v.b), v.doomed)})
		return
	}
	items, bytes, certified := uint64(0), uint64(0), false
	for _, a := range v.arrivals {
		i, b, some := a.check.Compared()
		items, bytes, certified = max(items, i), bytes+b, certified || some
	}
	if !certified { // it was certified by an earlier mapper
		m.Items.Ascend(v.lo, v.hi, func(balance.Key, uint32) bool { items++; return true })
	}
	m.counters.moves++
	m.counters.items += items
	m.counters.bytes += bytes
	m.counters.rest = now
	m.MoveStep(now, v.id, "has left %s for %s: %s", m.Name(v.a), m.Name(v.b), cluster.Counted(int(items), "ad group"))
}

// Moved has the number of moves, and how much they moved.
type Moved struct{ Moves, Cancelled, Items, Bytes uint64 }

const (
	// switchGap is the least time between two quanta with switches, so that moves that become ready in
	// the meantime share a view. Each view costs every slave work, and slows down queries by what slaves
	// keep for the view before it. So while other slices are still being copied, the gap is calmWait. If
	// something waits for a move that is ready, it is switchWait. It is switchGap as soon as one in
	// switchShare of all moves is ready.
	switchGap, switchWait, calmWait = 50 * time.Millisecond, time.Second, 3 * time.Second
	switchShare                     = 4
	// maxUnpublished is the number of unacknowledged views at which switches are held back.
	maxUnpublished = 4
	// restIntervals is the number of intervals for which a slice stays away from a shard that it left,
	// and rideIntervals from a shard that it failed to move to.
	restIntervals, rideIntervals = 10, 3
)

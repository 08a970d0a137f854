package mapper

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"adshard/balance"
	"adshard/fault"
)

// moves are the slices on their way, and the copies that arrive. A move begins, is switched and
// ends with the model (took); in between slaves report what they have (arrived), the verifier
// compares it, and findings come in (compared). Out go edits of the model that are due (due), the
// slaves that leave their sets with them, and where slices are to stay away from.
//
// It guarantees that a slice is switched only when each slave of its target's set that lives is
// certified, or leaves the set; that one of those was heard a moment ago; and that a source
// gives up a slice only when no master may ask it any more.
type moves struct {
	*cluster
	*journal
	verify *verifier
	all    map[uint64]*activeMove // by the slice's number
	// doomed are to be cancelled, ready to be switched, leaving to be finished,
	// in the order of their views; some may have been dropped meanwhile.
	doomed, ready, leaving []*activeMove
	switched, finished     time.Duration // the last time
	counters               counters

	left      []string // slaves that leave their sets, since they are late
	away      []stayAway
	emptyNext bool // what had to move has moved: more of it may begin
}

// stayAway is keys that are to stay away from a node.
type stayAway struct {
	node balance.NodeID
	rest
}

// out returns what the planner is to know, each once.
func (m *moves) out() (away []stayAway, emptyNext bool) {
	away, emptyNext = m.away, m.emptyNext
	m.away, m.emptyNext = nil, false
	return away, emptyNext
}

// activeMove is a slice on its way, from its start to its finish.
type activeMove struct {
	id, generation uint64
	lo, hi         balance.Key
	a, b           balance.NodeID // from, to
	phase          balance.MovePhase
	view           uint64 // from which b serves, when switched
	since          time.Duration
	progress       time.Duration // last time that it progressed
	cause          cause
	doomed         string // why it is cancelled

	arrivals    []*arrival    // of the slaves in b's set, by name
	first       time.Duration // when the first of them was certified; 0: none is
	isReady     bool          // it is in moves.ready
	switching   bool          // its switch is being saved: nothing cancels it any more
	published   bool
	publishedAt time.Duration
}

// cause is why a slice began to move.
type cause struct {
	text string
	// away is set if the slice had to leave; it may come back at once. commanded is set if an
	// operator had it move.
	away, commanded bool
}

// causes are the reasons for operations, by slice.
type causes map[causeOf]cause

type causeOf struct{ slice, with uint64 }

func (c causes) set(o balance.Op, why cause) { c[causeOf{o.Slice, o.New}] = why }

// of returns the reason for an operation, or "" if it needs none.
func (c causes) of(o balance.Op) cause { return c[causeOf{o.Slice, o.New}] }

func newMoves(c *cluster, j *journal, q *verifier) *moves {
	return &moves{cluster: c, journal: j, verify: q, all: map[uint64]*activeMove{}}
}

// sorted returns the moves by the numbers of their slices.
func (m *moves) sorted() []*activeMove {
	list := slices.Collect(maps.Values(m.all))
	slices.SortFunc(list, func(a, b *activeMove) int { return cmp.Compare(a.id, b.id) })
	return list
}

// matches reports whether h is the slice, all of it, as it is being moved.
func (v *activeMove) matches(h balance.Held) bool {
	return h.State == balance.Full && h.Generation == v.generation && h.Lo == v.lo && h.Hi == v.hi
}

// switchable reports whether the slice may be switched after an edit.
func (m *moves) switchable(now time.Duration, v *activeMove, e *balance.Edit) bool {
	return m.all[v.id] == v && v.phase == balance.Copying && v.doomed == "" && m.agreed(now, v, e)
}

// doom marks a move for cancellation.
func (m *moves) doom(v *activeMove, why string) {
	if v.doomed != "" {
		return
	}
	v.doomed = why
	for _, a := range v.arrivals {
		a.check.off = true
	}
	m.doomed = append(m.doomed, v)
	m.trouble(fault.Newf(fault.Unavailable, "balance: move",
		"the move of slice %d from node %s to node %s is cancelled: %s", v.id, m.name(v.a), m.name(v.b), why))
}

// dueMoves adds to an edit what is to be cancelled, switched and finished.
func (m *moves) dueMoves(now time.Duration, e *lazyEdit, w *views) {
	for _, v := range m.doomed {
		if m.all[v.id] == v && v.phase == balance.Copying {
			e.try(func(e *balance.Edit) error { return e.Cancel(v.id) })
		}
	}
	m.doomed = nil
	if len(m.ready) > 0 && now >= m.due(now) && len(w.waiting) < maxUnpublished {
		for _, v := range m.ready {
			v.isReady = false
			if m.switchable(now, v, e.e) {
				m.switchOn(now, e, v)
			} else if m.all[v.id] == v {
				m.doubt(now, v)
			}
		}
		m.ready = nil
	}
	if len(m.leaving) > 0 && (e.e != nil || now >= m.finished+switchWait) {
		m.finish(now, e, w)
	}
}

// finish ends the moves whose slices no query seeks at their sources any more.
func (m *moves) finish(now time.Duration, e *lazyEdit, w *views) {
	done := 0
	for oldest, _ := w.oldestAsked(now); done < len(m.leaving); done++ {
		v := m.leaving[done]
		if v.view > oldest || now < v.publishedAt+m.cfg.Linger {
			break
		}
		m.finished = now
		e.try(func(e *balance.Edit) error { return e.Finish(v.id) })
	}
	m.leaving = slices.Delete(m.leaving, 0, done)
}

// due returns when those that are ready are to be switched.
func (m *moves) due(now time.Duration) time.Duration {
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

// copying returns how many of the moves are still to be switched.
func (m *moves) copying() (n int) {
	for _, v := range m.all {
		if v.phase == balance.Copying {
			n++
		}
	}
	return n
}

// awaited reports whether somebody waits for a move: the slice had to leave its node when it began
// to move, or has to by now, since the node drains, dissolves or is lost; or it was moved by command; or
// balancing is paused, and whoever did that waits for the end of all moves.
func (m *moves) awaited(now time.Duration, v *activeMove) bool {
	return v.cause.away || v.cause.commanded || m.hurries(v.a, now)
}

// switchOn has the target of a move serve its slice. Slaves of its set that are not
// ready leave the set, and join again once they have been filled.
func (m *moves) switchOn(now time.Duration, e *lazyEdit, v *activeMove) {
	m.switched, v.switching = now, true
	e.try(func(e *balance.Edit) error { return e.Switch(v.id) })
	for _, name := range m.late(now, v) {
		e.try(func(e *balance.Edit) error {
			if !e.Keeps(name) {
				return nil
			}
			m.left = append(m.left, name)
			return e.Leave(name)
		})
	}
}

// doubt forgets what was certified on slaves that are lost, until they are back.
func (m *moves) doubt(now time.Duration, v *activeMove) {
	for _, a := range v.arrivals {
		if a.check.done() && !m.alive(a.slave, now) {
			m.uncertify(a)
		}
	}
}

// took updates the moves after a change of the model.
func (m *moves) took(now time.Duration, s modelChange) {
	still := make(map[uint64]bool, len(m.all))
	for _, v := range m.model.Slices() {
		if v.Move.Phase == balance.NoMove {
			continue
		}
		still[v.ID] = true
		tracked := m.all[v.ID]
		switch {
		case tracked == nil:
			m.begun(now, v, s.why[causeOf{v.ID, 0}])
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

// begun tracks a new move, or one that an earlier mapper started.
func (m *moves) begun(now time.Duration, s balance.Slice, why cause) {
	v := &activeMove{
		id: s.ID, lo: s.Lo, hi: s.Hi, generation: s.Generation, phase: s.Move.Phase, since: now, progress: now, cause: why,
	}
	m.all[s.ID] = v
	if why.text == "" {
		from, _ := m.model.Node(s.Node)
		v.cause = cause{text: "it was on its way when the balancer started", away: from.State == balance.Draining || from.State == balance.Dissolving}
	}
	if s.Move.Phase == balance.Switched {
		v.a, v.b, v.view = s.Move.Other, s.Node, s.From
		return
	}
	v.a, v.b = s.Node, s.Move.Other
	fresh := m.arrive(v)
	m.happened(now, Event{Slice: s.ID, Step: !v.cause.commanded,
		Text: fmt.Sprintf("begins to move from %s to %s: %s", m.name(v.a), m.name(v.b), v.cause.text)})
	m.greet(now, fresh)
}

// stall returns the time without progress after which a move is cancelled: the largest item
// that one of its copies waits for arrives, or is compared, as a whole.
func (m *moves) stall(v *activeMove) time.Duration {
	largest := uint32(0)
	for _, a := range v.arrivals {
		for _, part := range m.missing(a) {
			m.items.Ascend(part.Lo, part.Hi, func(_ balance.Key, w uint32) bool { largest = max(largest, w); return true })
		}
	}
	return patience(m.cfg.Stall, uint64(largest))
}

// greet looks whether new arrivals are there already.
func (m *moves) greet(now time.Duration, fresh []*arrival) {
	for _, a := range fresh {
		if n := m.node(a.slave); n.reported {
			m.arrived(now, n)
		}
	}
}

func (m *moves) noteSwitch(now time.Duration, v *activeMove, s balance.Slice) {
	v.phase, v.view, v.generation, v.progress = balance.Switched, s.From, s.Generation, now
	for _, a := range v.arrivals {
		m.dropArrival(a)
	}
	if v.cause.away {
		m.emptyNext = m.emptyNext || m.copying() == 0
	} else {
		m.away = append(m.away, stayAway{v.a, rest{
			Interval: balance.Interval{Lo: v.lo, Hi: v.hi}, until: now + restIntervals*m.cfg.interval(), load: m.measured(s),
			why: "left it when it moved to " + m.name(v.b),
		}})
	}
	m.tell(now, v.id, "is served by %s from view %d on", m.name(v.b), v.view)
}

// ended records that a move finished or was cancelled.
func (m *moves) ended(now time.Duration, v *activeMove) {
	delete(m.all, v.id)
	delete(m.verify.moving, v.id)
	for _, a := range v.arrivals {
		m.dropArrival(a)
	}
	if v.phase == balance.Copying {
		m.counters.cancelled++
		m.away = append(m.away, stayAway{v.b, rest{
			Interval: balance.Interval{Lo: v.lo, Hi: v.hi}, until: now + rideIntervals*m.cfg.interval(), load: -1,
			why: "could not get there: " + v.doomed,
		}})
		m.happened(now, Event{Slice: v.id,
			Text: fmt.Sprintf("stays on %s, its move to %s is cancelled: %s", m.name(v.a), m.name(v.b), v.doomed)})
		return
	}
	items, bytes, certified := uint64(0), uint64(0), false
	for _, a := range v.arrivals {
		items, bytes = max(items, a.check.items), bytes+a.check.bytes
		certified = certified || a.check.parts > 0 || a.check.matched != 0
	}
	if !certified { // by an earlier mapper
		m.items.Ascend(v.lo, v.hi, func(balance.Key, uint32) bool { items++; return true })
	}
	m.counters.moves++
	m.counters.items += items
	m.counters.bytes += bytes
	m.counters.rest = now
	m.tell(now, v.id, "has left %s for %s: %d items, %d bytes", m.name(v.a), m.name(v.b), items, bytes)
}

// note records other changes of slices and nodes.
func (m *Mapper) note(now time.Duration, o balance.Op, why causes) {
	text := ""
	if c := why.of(o); c.text != "" {
		text = ": " + c.text
	}
	switch o.Kind {
	case balance.OpSplit:
		m.tell(now, o.Slice, "was split at %x, slice %d begins there%s", uint64(o.At), o.New, text)
		m.memory.add(now, o.New, fmt.Sprintf("was split from slice %d%s", o.Slice, text))
	case balance.OpMerge:
		m.tell(now, o.Slice, "took in its neighbour, slice %d%s", o.New, text)
		m.memory.add(now, o.New, fmt.Sprintf("was merged into slice %d%s", o.Slice, text))
	case balance.OpEnlist, balance.OpPlace, balance.OpAssign, balance.OpEnter, balance.OpLeave, balance.OpRelease, balance.OpFree, balance.OpRetire, balance.OpForget:
		m.event(Event{Node: o.Name, Text: o.String()})
	case balance.OpJoin, balance.OpForm, balance.OpState:
		m.event(Event{Node: m.name(o.Node), Text: o.String()})
	case balance.OpRemove:
		m.event(Event{Node: o.Name, Text: o.String()})
		delete(m.plan.rests, o.Node)
		m.loads.Forget(o.Node)
	case balance.OpFilled:
		m.event(Event{Text: o.String()})
	}
	if o.Kind == balance.OpState {
		m.plan.next, m.plan.empty = min(m.plan.next, now), now
		if o.State == balance.Active {
			delete(m.plan.rests, o.Node)
		}
	}
}

// lazyEdit is an edit that is created on first use.
type lazyEdit struct {
	*cluster
	*journal
	e *balance.Edit
}

// idle reports whether no operation was applied so far.
func (l *lazyEdit) idle() bool { return l.e == nil || len(l.e.Ops()) == 0 }

// try applies an operation; an impossible one is reported and skipped.
func (l *lazyEdit) try(op func(*balance.Edit) error) {
	if l.e == nil {
		l.e = l.model.Edit()
	}
	if err := op(l.e); err != nil {
		l.trouble(err)
	}
}

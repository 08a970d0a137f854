package transfer

import (
	"time"

	"adshard/balance"
)

// hopeless returns why a copy cannot complete, or "" if it can.
func (m *Moves) hopeless(now time.Duration, v *activeMove) string {
	target, _ := m.Model.Shard(v.b)
	trouble, since := m.Ailing(v.b, now)
	moved, certified := v.progress, false
	for _, a := range v.arrivals {
		moved, certified = max(moved, m.Slave(a.slave).Moved), certified || a.done()
	}
	idle := now - moved
	switch {
	case target.State != balance.Active:
		return "shard " + target.Name + " is " + target.State.String()
	case !m.Up(v.b, now):
		return "shard " + target.Name + " is lost: not heard from for " + m.Config.DeadAfter.String()
	case trouble != "" && now >= since+m.Config.DeadAfter:
		return "shard " + target.Name + " is in trouble: " + trouble
	case certified && len(v.arrivals) > 1: // slaves that are late leave the set
	case idle >= m.Config.Stall && idle >= m.stall(v):
		return "no progress for " + m.stall(v).String() + m.stalled(now, v)
	}
	return ""
}

// stalled says what a stalled copy waits for.
func (m *Moves) stalled(now time.Duration, v *activeMove) string {
	switch a := m.least(now, v); {
	case a == nil || !a.arrived:
		return ": shard " + m.Name(v.b) + " has not received all items"
	case a.check.Failure() != "":
		return ": certificates unavailable: " + a.check.Failure()
	}
	return ": its items change too often for the copies to be compared"
}

// counters has counts since the mapper started.
type counters struct {
	moves, cancelled, items, bytes uint64
	rest                           time.Duration // when the last move ended
}

// Flight is the state of a slice's move.
type Flight struct {
	Slice    uint64
	From, To string
	Phase    balance.MovePhase
	// For is how long the move has lasted.
	For time.Duration
	// Matched is the number of bins, of balance.Bins, that are verified in the current
	// part.
	Matched int
	// Cause says why the slice moves, and WaitsFor what is still missing.
	Cause, WaitsFor string
}

// arrivingOn returns a text that names the shard, and the slave if it has another name,
// that a move waits for.
func arrivingOn(a *arrival, target string) string {
	if a == nil || a.slave == target {
		return target
	}
	return target + " (" + a.slave + ")"
}

// flight returns the state of a move.
func (m *Moves) flight(now time.Duration, v *activeMove, oldest uint64) Flight {
	f := Flight{
		Slice: v.id, From: m.Name(v.a), To: m.Name(v.b), Phase: v.phase, For: now - v.since, Cause: v.cause.Text,
	}
	a := m.least(now, v)
	if a != nil {
		f.Matched = a.check.Bins()
	}
	switch {
	case v.phase == balance.Switched && !v.published:
		f.WaitsFor = "all slaves to acknowledge the view in which it was switched"
	case v.phase == balance.Switched && v.view > oldest:
		f.WaitsFor = "all masters to get the view in which it was switched"
	case v.phase == balance.Switched:
		f.WaitsFor = "the longest query with an older view to end"
	case v.doomed != "":
		f.WaitsFor = "cancellation: " + v.doomed
	case a == nil || !a.arrived:
		f.WaitsFor = arrivingOn(a, f.To) + " to get all items"
	case !a.check.Done() && a.check.Failure() != "":
		f.WaitsFor = "certificates: " + a.check.Failure()
	case !a.check.Done():
		f.WaitsFor = "certificates of both copies"
	default:
		f.WaitsFor = "its switch to be recorded"
	}
	return f
}

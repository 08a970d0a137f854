package mapper

import (
	"time"

	"adshard/balance"
)

// hopeless returns why a copy cannot complete, or "" if it can.
func (m *moves) hopeless(now time.Duration, v *activeMove) string {
	target, _ := m.model.Node(v.b)
	trouble, since := m.ailing(v.b, now)
	moved, certified := v.progress, false
	for _, a := range v.arrivals {
		moved, certified = max(moved, m.node(a.slave).moved), certified || a.done()
	}
	idle := now - moved
	switch {
	case target.State != balance.Active:
		return "node " + target.Name + " is " + target.State.String()
	case !m.up(v.b, now):
		return "node " + target.Name + " is lost: not heard from for " + m.cfg.DeadAfter.String()
	case trouble != "" && now >= since+m.cfg.DeadAfter:
		return "node " + target.Name + " is in trouble: " + trouble
	case certified && len(v.arrivals) > 1: // those that are late leave the set
	case idle >= m.cfg.Stall && idle >= m.stall(v):
		return "no progress for " + m.stall(v).String() + m.stalled(now, v)
	}
	return ""
}

// stalled returns what a stalled copy waits for.
func (m *moves) stalled(now time.Duration, v *activeMove) string {
	switch a := m.least(now, v); {
	case a == nil || !a.arrived:
		return ": node " + m.name(v.b) + " has not received all items"
	case a.check.failed != "":
		return ": certificates unavailable: " + a.check.failed
	}
	return ": its items change too often for the copies to be compared"
}

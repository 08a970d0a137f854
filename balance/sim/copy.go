package sim

import (
	"time"

	"adshard/balance"
)

// A slave that lacks most of its shard copies the disk of a sibling, if the balancer
// says so. It gets what the sibling's disk has when the copy begins, after the time that
// the transfer takes. The sibling may die, be damaged or leave its shard in the
// meantime.

// copyTenth is how many times faster it is to copy an item than to apply it.
const copyTenth = 10

// replace begins to copy a sibling's disk, and reports whether it could.
func (s *slave) replace(sibling string, epoch uint64) bool {
	source := s.w.slave(sibling)
	if source == nil || !source.up || s.full {
		return false
	}
	s.epoch, s.copying = epoch, source.disk.copy()
	session, life, n := s.session, s.life, len(source.disk.items)
	s.w.work(&s.process, time.Duration(float64(n)*s.w.cfg.ItemMicros/copyTenth*float64(time.Microsecond)), func() {
		copied := s.copying
		if !s.up || s.life != life || s.session != session {
			return
		}
		s.copying = nil
		if s.full {
			s.retry(4*s.w.times.poll, s.register)
			return
		}
		settle(&copied.table)
		s.disk, s.copied = copied, &balance.Copied{Source: sibling}
		s.settled, s.caughtUp, s.health.whole = false, false, false
		s.register()
	})
	return true
}

// settle changes a table to that of a spare, which serves nothing.
func settle(t *balance.Table) {
	t.Shard, t.Spare = "", true
	for i := range t.Slices {
		t.Slices[i].From, t.Slices[i].Until = 0, 0
	}
}

package sim

import (
	"time"

	"adshard/balance"
)

// A slave that lacks most of its shard copies the disk of a sibling, as the balancer
// says: what the sibling's disk has when the copy begins is what it gets, after the time
// that the transfer takes. The sibling may die, be damaged or leave its shard meanwhile.

// copyTenth is how much less time an item takes to be copied than to be applied.
const copyTenth = 10

// replace begins to copy a sibling's disk, and reports whether it does.
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

// settle makes a table that of a spare which serves nothing.
func settle(t *balance.Table) {
	t.Shard, t.Spare = "", true
	for i := range t.Slices {
		t.Slices[i].From, t.Slices[i].Until = 0, 0
	}
}

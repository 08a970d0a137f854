package barrels

import "adshard/barrels/query"

// Damage is data that a store found to differ from what was written.
type Damage struct {
	// Lo and Hi are the keys of the groups that it may concern, both inclusive.
	Lo, Hi uint64
	// Memory means that only a cached copy differed. It was dropped, so nothing is left to do.
	Memory bool
	What   string
}

// OnDamage implements Store.
func (s *barrel) OnDamage(report func(Damage)) { s.damaged.Store(&report) }

// reportDamage reports damage that was found.
func (s *barrel) reportDamage(d Damage) {
	if report := s.damaged.Load(); report != nil {
		(*report)(d)
	}
}

// reportBad counts and reports the blocks and groups that a search could not read. If only the
// cache seems damaged but the store is too, the next search finds that out.
func (s *barrel) reportBad(d query.Damage) {
	if len(d.Bad) == 0 {
		return
	}
	s.badBlocks.Add(uint64(len(d.Bad)))
	for _, r := range d.Bad {
		s.reportDamage(Damage{Lo: r.Lo, Hi: r.Hi, Memory: d.Memory, What: "a search met data that it could not read"})
	}
}

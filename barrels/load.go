package barrels

import "adshard/schema/pb"

// CountLoad implements Store.
func (s *barrel) CountLoad(every int) { s.engine.Load.SetEvery(every) }

// TakeLoad implements Store.
func (s *barrel) TakeLoad() *pb.Load { return s.engine.Load.Take() }

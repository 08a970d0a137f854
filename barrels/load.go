package barrels

import "adshard/schema/pb"

// CountLoad implements Store.
func (s *store) CountLoad(every int) { s.engine.Load.SetEvery(every) }

// TakeLoad implements Store.
func (s *store) TakeLoad() *pb.Load { return s.engine.Load.Take() }

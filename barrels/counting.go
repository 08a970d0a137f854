package barrels

import "adshard/schema/pb"

// CountLoad implements Store.
func (s *store) CountLoad(every int) { s.loads.SetEvery(every) }

// TakeLoad implements Store.
func (s *store) TakeLoad() *pb.Load { return s.loads.Take() }

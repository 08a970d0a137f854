package postgres

// Tighten makes transactions forget nearly everything at once.
func (s *Store) Tighten() { s.limits = limits{queued: 2, cached: 6, parents: 2} }

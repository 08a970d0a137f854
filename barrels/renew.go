package barrels

import (
	"adshard/barrels/kv"
	"adshard/fault"
)

// Present implements Store.
func (s *barrel) Present() error {
	if !s.mu.TryLock() {
		return nil // a writer is at work, or the store is being recreated
	}
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if kv, ok := s.kv.(kv.Recreator); ok {
		return kv.Present()
	}
	return nil
}

// Renew implements Store.
func (s *barrel) Renew() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.errClosed("barrels: renew")
	}
	kv, ok := s.kv.(kv.Recreator)
	if !ok {
		return fault.Newf(fault.Internal, "barrels: renew", "this kind of store cannot be recreated")
	}
	if err := s.reopenWith(kv.Recreate); err != nil {
		return err
	}
	s.upkeep = upkeep{changed: unknown}
	return nil
}

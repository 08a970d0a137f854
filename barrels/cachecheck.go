package barrels

import (
	"bytes"

	"adshard/barrels/index"
	"adshard/barrels/kv"
)

// While a certificate is computed, cached data are compared with the store's bytes, since no
// checksum detects a bit that flips in memory. Entries that differ are dropped, so that searches
// read the store again.

// compareBlock compares the cached copy of a stored block. In a pass over all intervals it does so
// only once, in the interval of the block's first posting.
func (c *certifier) compareBlock(term uint64, at kv.Place, value []byte) {
	if first := viewPlace(&c.view, 0); first.Key < c.lo || first.Key > c.hi {
		return
	}
	list := c.state.Terms.Peek(term, c.state.Number)
	if list == nil {
		return
	}
	if b := list.Same(term, at, value); b != nil && c.verifier.Impacts(b) {
		return
	}
	c.store.engine.Lists.Drop(c.state.Terms, term)
	c.store.reportDamage(Damage{Lo: c.lo, Hi: c.hi, Memory: true, What: "a block of keywords cached in memory differs from the store's"})
}

// compareGroup compares the cached data of a group with the store.
func (c *certifier) compareGroup(key uint64) {
	if c.verifier.Group(key) {
		return
	}
	c.store.engine.Groups.Drop(key)
	c.store.reportDamage(Damage{Lo: key, Hi: key, Memory: true, What: "an ad group cached in memory differs from the store's"})
}

// mendParent replaces a parent in memory by the stored one.
func (s *barrel) mendParent(kind byte, id uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.kv.Failed() {
		return s.errClosed("barrels: certify")
	}
	old := s.Newest.Load()
	key := kv.AppendParentKey(nil, kind, id)
	raw, ok, err := old.Data.Get(kv.Parents, key, nil)
	if err != nil || !ok {
		return err
	}
	if same, err := old.Parents.Matches(kind, id, raw); err != nil || same {
		return err
	}
	mended := old.Parents.Copy()
	if err := mended.Load(bytes.Clone(key), raw); err != nil {
		return err
	}
	next := &index.Snapshot{
		Number: old.Number + 1, Data: old.Data.Again(), Terms: old.Terms, Parents: mended, Builder: old.Builder,
		Position: old.Position, Slices: old.Slices, Counters: old.Counters, Purge: old.Purge,
	}
	s.Publish(next)
	s.reportDamage(Damage{Memory: true, What: "a campaign or an advertiser cached in memory differs from the store's"})
	return nil
}

package index

import "testing"

// TestFill: what is cached ahead of searches leaves a quarter of the cache free, does not displace what a later state has put, and is not
// used for a state that changed it.
func TestFill(t *testing.T) {
	const limit, size = 1 << 20, 1000
	c := NewCache[int](alone(limit))
	c.Put(7, 3, 30, size)
	filled := 0
	for prefix := range uint64(4 * limit / size) {
		if c.Fill(prefix, 2, 2, size) {
			filled++
		}
	}
	if got := c.Bytes(); got > limit/4*3 || got < limit/2 {
		t.Errorf("%d of %d bytes are filled, %d values", got, limit, filled)
	}
	if v, ok := c.Get(7, 3); !ok || v != 30 {
		t.Errorf("what a later state has put: %d, %v", v, ok)
	}
	if !c.Fill(1<<20, 3, 3, c.MaxBytes()) || c.Has(1<<20) {
		t.Error("a value that is too large is kept, or taken for one that has no room")
	}
	if NewCache[int](alone(0)).Fill(1, 1, 1, size) {
		t.Error("there is room where nothing is kept")
	}
	before := c.Bytes()
	if !c.Valid(1, 3) {
		t.Error("not valid for a later state")
	}
	if c.Changed(1, 4); c.Valid(1, 4) {
		t.Error("valid for a state that changed it")
	}
	if !c.Fill(1, 4, 4, size) {
		t.Error("no room to replace an older value")
	}
	if v, ok := c.Get(1, 4); !ok || v != 4 || c.Bytes() != before {
		t.Errorf("after it changed: %d, %v; %d bytes in place of %d", v, ok, c.Bytes(), before)
	}
}

// TestPiecesCount: what answers show of a cached group counts once there is one, unless the group is no longer the cached one.
func TestPiecesCount(t *testing.T) {
	c, g := NewCache[*Group](alone(1<<20)), new(Group)
	c.Put(1, 1, g, GroupBytes(0, g))
	bare, size := c.Bytes(), GroupBytes(0, g)
	p := &GroupPiece{Bytes: make([]byte, 500)}
	g.Piece.Store(p)
	if got := GroupBytes(0, g); got != size+p.Size() || p.Size() < 500 {
		t.Errorf("a group of %d bytes takes %d with a piece of %d", size, got, p.Size())
	}
	for _, cached := range []bool{false, true} {
		c.Grew(1, p.Size(), func(h *Group) bool { return (h == g) == cached })
	}
	if got := c.Bytes(); got != bare+uint64(p.Size()) {
		t.Errorf("%d bytes, and %d with a piece of %d", bare, got, p.Size())
	}
}

package block

// table reads the root table of FlatBuffers bytes with every offset checked;
// ok turns false at the first that is wrong.
type table struct {
	b      []byte
	pos    int // of the table
	vtable int // of its vtable
	size   int // of its vtable
	ok     bool
}

func (t *table) open() {
	t.pos = int(u32(t.b, 0))
	if t.pos < 4 || t.pos > len(t.b)-4 {
		t.ok = false
		return
	}
	t.vtable = t.pos - int(int32(u32(t.b, t.pos)))
	if t.vtable < 0 || t.vtable > len(t.b)-4 {
		t.ok = false
		return
	}
	t.size = int(u16(t.b, t.vtable))
	t.ok = t.size >= 4 && t.size <= len(t.b)-t.vtable
}

// field returns the place of a field's value, 0 when it is not there.
func (t *table) field(slot int) int {
	at := 4 + 2*slot
	if !t.ok || at+2 > t.size {
		return 0
	}
	off := int(u16(t.b, t.vtable+at))
	if off == 0 {
		return 0
	}
	if off > len(t.b)-t.pos-4 {
		t.ok = false
		return 0
	}
	return t.pos + off
}

// inline returns the place of a struct of this size, 0 when it is not there.
func (t *table) inline(slot, size int) int {
	at := t.field(slot)
	if at > len(t.b)-size {
		t.ok = false
		return 0
	}
	return at
}

// vector returns the place of the first element of a vector of elements of this
// size, and their number.
func (t *table) vector(slot, size int) (first, n int) {
	at := t.field(slot)
	if at == 0 {
		return 0, 0
	}
	at += int(u32(t.b, at))
	if at < 0 || at > len(t.b)-4 {
		t.ok = false
		return 0, 0
	}
	n = int(u32(t.b, at))
	if n*size > len(t.b)-at-4 {
		t.ok = false
		return 0, 0
	}
	return at + 4, n
}

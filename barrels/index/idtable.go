package index

// idTable finds values by id. Copies share their pages. A page is copied when one of the copies
// first writes to it, so a published table never changes and the next one costs little. A lookup
// takes one or two memory reads.
type idTable[V any] struct {
	pages []*idPage[V]
	own   []bool // whether only this copy has the page
	shift uint
	size  int
}

// idPage is a page of slots. A slot with id 0 is free.
type idPage[V any] [idPageSlots]struct {
	id    uint64
	value V
}

const (
	idPageBits  = 6
	idPageSlots = 1 << idPageBits
)

func newIDTable[V any](bits uint) *idTable[V] {
	t := &idTable[V]{shift: 64 - bits}
	n := 1 << (bits - idPageBits)
	t.pages, t.own = make([]*idPage[V], n), make([]bool, n)
	for i := range t.pages {
		t.pages[i], t.own[i] = new(idPage[V]), true
	}
	return t
}

// Len returns the number of ids.
func (t *idTable[V]) Len() int { return t.size }

// copy returns a table with the same content that can be changed independently.
func (t *idTable[V]) copy() *idTable[V] {
	c := *t
	c.pages = append([]*idPage[V](nil), t.pages...)
	c.own = make([]bool, len(t.own))
	return &c
}

// start returns the first slot to look at for an id.
func (t *idTable[V]) start(id uint64) uint64 { return id * 0x9e3779b97f4a7c15 >> t.shift }

// Get returns the value of an id. ok is false if there is none.
func (t *idTable[V]) Get(id uint64) (value V, ok bool) {
	mask := uint64(len(t.pages))<<idPageBits - 1
	for i := t.start(id); ; i = (i + 1) & mask {
		s := &t.pages[i>>idPageBits][i%idPageSlots]
		if s.id == id && id != 0 {
			return s.value, true
		}
		if s.id == 0 {
			return value, false
		}
	}
}

// set sets the value of an id. It returns the table to use from then on: t or a larger one.
func (t *idTable[V]) set(id uint64, value V) *idTable[V] {
	mask := uint64(len(t.pages))<<idPageBits - 1
	if uint64(4*(t.size+1)) > 3*mask {
		return t.grown().set(id, value)
	}
	i := t.start(id)
	for {
		s := &t.pages[i>>idPageBits][i%idPageSlots]
		if s.id == id || s.id == 0 {
			break
		}
		i = (i + 1) & mask
	}
	p := i >> idPageBits
	if !t.own[p] {
		c := *t.pages[p]
		t.pages[p], t.own[p] = &c, true
	}
	s := &t.pages[p][i%idPageSlots]
	if s.id == 0 {
		t.size++
	}
	s.id, s.value = id, value
	return t
}

func (t *idTable[V]) grown() *idTable[V] {
	n := newIDTable[V](64 - t.shift + 1)
	t.each(func(id uint64, v V) { n = n.set(id, v) })
	return n
}

// Without returns a table without the ids for which drop is true.
func (t *idTable[V]) Without(drop func(id uint64) bool) *idTable[V] {
	n := newIDTable[V](idPageBits)
	t.each(func(id uint64, v V) {
		if !drop(id) {
			n = n.set(id, v)
		}
	})
	return n
}

func (t *idTable[V]) each(visit func(id uint64, value V)) {
	for _, p := range t.pages {
		for i := range p {
			if p[i].id != 0 {
				visit(p[i].id, p[i].value)
			}
		}
	}
}

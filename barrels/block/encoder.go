package block

import flatbuffers "github.com/google/flatbuffers/go"

// Encoder collects at most Max entries in ascending order of (group key, keyword) and writes them
// as one block. It reuses its buffers for the next block.
type Encoder struct {
	words    []Word
	index    wordIndex
	groups   []Group
	postings []posting
	refs     []uint16
	runs     map[run]uint16 // index of a run's first reference in refs
	bounds   bounds
	live     uint16
	builder  *flatbuffers.Builder

	source *View    // the block of the last Copy
	remap  []uint16 // for each word of source its index in this block + 1, or 0 if not added yet
	from   Group    // the group of source that was copied last
	of     int      // that group's index in source, or -1 if another group was added since

	// order has the words in the order in which they are written: first those whose fold and norm
	// are the same, alike in number, then the others. places is its inverse.
	order, places []uint16
	alike         int
}

// posting is an entry. Its words are in refs, its group is in groups.
type posting struct {
	keyword, bid  uint64
	first         uint16
	words, group  uint8
	kind          uint8 // match type
	quality, flag uint8
}

// Len is the number of entries collected.
func (e *Encoder) Len() int { return len(e.postings) }

// Reset removes all entries.
func (e *Encoder) Reset() {
	e.words, e.groups = e.words[:0], e.groups[:0]
	e.postings, e.refs = e.postings[:0], e.refs[:0]
	clear(e.runs)
	e.bounds, e.live, e.source, e.of = bounds{}, 0, nil, -1
	e.index.reset()
}

// Add appends a new entry.
func (e *Encoder) Add(n *Entry) {
	first := len(e.refs)
	for i := range n.Words {
		e.refs = append(e.refs, e.word(n.Words[i]))
	}
	e.group(n.Group)
	e.of = -1
	e.posting(n.Group, posting{
		keyword: n.Keyword, bid: n.Bid, first: e.share(first), words: uint8(len(n.Words)), kind: n.Type, quality: n.Quality, flag: n.Flags,
	})
}

// Copy appends the postings of a block with indexes from `first` up to, not including, end.
func (e *Encoder) Copy(v *View, first, end int) {
	if e.source != v {
		e.use(v)
	}
	for i := first; i < end; i++ {
		keyword, bid, g, quality, flags := v.Detail(i)
		if g != e.of {
			e.from, e.of = v.Group(g), g
			e.group(&e.from)
		}
		p := posting{keyword: keyword, bid: bid, quality: quality, flag: flags}
		first := len(e.refs)
		kind, words := v.Posting(i)
		p.kind, p.words = uint8(kind), uint8(words.Len())
		e.copyRefs(v, words)
		p.first = e.share(first)
		e.posting(&e.from, p)
	}
}

// copyRefs appends references to words of the source.
func (e *Encoder) copyRefs(v *View, words Refs) {
	for i := range words.Len() {
		w := words.At(i)
		if e.remap[w] == 0 {
			norm, fold, term := v.Word(w)
			e.remap[w] = e.word(Word{norm, fold, term}) + 1
		}
		e.refs = append(e.refs, e.remap[w]-1)
	}
}

// run is the references of a posting, after their number.
type run [1 + maxWords]uint16

// share returns the place of the references from index `first` on. If an earlier posting has the
// same words, it is the place of that posting's references.
func (e *Encoder) share(first int) uint16 {
	var key run
	key[0] = uint16(copy(key[1:], e.refs[first:]))
	if at, found := e.runs[key]; found {
		e.refs = e.refs[:first]
		return at
	}
	if e.runs == nil {
		e.runs = make(map[run]uint16)
	}
	e.runs[key] = uint16(first)
	return uint16(first)
}

// use makes v the source of copies. If a view is opened on other bytes, Reset must be called first.
func (e *Encoder) use(v *View) {
	e.source, e.of = v, -1
	if n := v.Words(); cap(e.remap) < n {
		e.remap = make([]uint16, n)
	} else {
		e.remap = e.remap[:n]
		clear(e.remap)
	}
}

// posting appends a posting of the last group, and adds it to the bounds and the number of live
// postings.
func (e *Encoder) posting(g *Group, p posting) {
	p.group = uint8(len(e.groups) - 1)
	e.postings = append(e.postings, p)
	if p.flag&Enabled == 0 || g.Flags&GroupLive != GroupLive {
		return
	}
	e.live++
	if p.flag&HasBid != 0 {
		e.bounds.add(p.bid, p.quality, p.kind, &g.Modifiers, GroupFactor(g.Flags))
	}
}

// group makes g the group of the next postings.
func (e *Encoder) group(g *Group) {
	if k := len(e.groups); k == 0 || e.groups[k-1].Key != g.Key {
		e.groups = append(e.groups, *g)
	}
}

func (e *Encoder) word(w Word) uint16 {
	i, found := e.index.find(w, e.words)
	if !found {
		e.words = append(e.words, w)
	}
	return i
}

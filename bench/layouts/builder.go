package layouts

import "math"

// Builder puts a set together, group by group. Use NewBuilder to make one.
type Builder struct {
	set *Set
	ids map[string]uint32
	// last holds, for each word, the index + 1 of the last keyword that has it, so that a
	// keyword counts each word once.
	last []uint32
}

// NewBuilder returns a builder with an empty set.
func NewBuilder() *Builder {
	return &Builder{set: &Set{Starts: []uint32{0}}, ids: make(map[string]uint32)}
}

// Group begins an ad group, to which the following keywords belong. Groups are numbered from
// 1. A group that has no keyword when the next one begins is left out.
func (b *Builder) Group(campaign, advertiser uint64) {
	s := b.set
	g := Group{First: uint32(s.Len()), ID: 1, Campaign: campaign, Advertiser: advertiser}
	n := len(s.Groups)
	if n > 0 {
		g.ID = s.Groups[n-1].ID + 1
	}
	if n > 0 && s.Groups[n-1].First == g.First {
		g.ID = s.Groups[n-1].ID
		s.Groups[n-1] = g
		return
	}
	s.Groups = append(s.Groups, g)
}

// Word adds a normalised word to the keyword that the next call of Keyword ends, unless the
// keyword has it already.
func (b *Builder) Word(norm string) {
	s := b.set
	id, ok := b.ids[norm]
	if !ok {
		id = uint32(len(s.Words))
		b.ids[norm] = id
		s.Words, s.Counts, b.last = append(s.Words, norm), append(s.Counts, 0), append(b.last, 0)
	}
	if now := uint32(s.Len()) + 1; b.last[id] != now {
		b.last[id] = now
		s.Refs = append(s.Refs, id)
		s.Counts[id]++
	}
}

// Keyword ends a keyword: bid in micros, quality 1 to 10. If no word was added since the last
// keyword, it does nothing. If there is no group yet, it begins one of advertiser and
// campaign 1.
func (b *Builder) Keyword(bid uint32, quality uint8) {
	s := b.set
	if uint32(len(s.Refs)) == s.Starts[len(s.Starts)-1] {
		return
	}
	if len(s.Groups) == 0 {
		b.Group(1, 1)
	}
	s.Bids, s.Qualities = append(s.Bids, bid), append(s.Qualities, quality)
	s.Starts = append(s.Starts, uint32(len(s.Refs)))
}

// Set returns the set and begins a new one.
func (b *Builder) Set() *Set {
	s := b.set
	if n := len(s.Groups); n > 0 && int(s.Groups[n-1].First) == s.Len() {
		s.Groups = s.Groups[:n-1]
	}
	*b = *NewBuilder()
	return s
}

// full reports whether 32-bit indexes have no room for another keyword.
func (b *Builder) full() bool { return len(b.set.Refs) > math.MaxUint32-MaxWords }

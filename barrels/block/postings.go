package block

import (
	"adshard/schema/fb"
	"adshard/search"
)

func (v *View) findPostings(root *fb.Block) {
	var first fb.Posting
	if n := root.WidePostingsLength(); n > 0 {
		var first fb.WidePosting
		root.WidePostings(&first, 0)
		v.postings = v.found(first.Table().Pos, n, widePostingSize, Max)
		return
	}
	root.Postings(&first, 0)
	v.postings = v.found(first.Table().Pos, root.PostingsLength(), postingSize, Max)
}

// posting returns posting i. If it is a WidePosting, its id and bid, which come last, are not
// valid.
func (v *View) posting(i int) (p fb.Posting) {
	p.Init(v.b, v.postings.place(i))
	return p
}

// widePosting returns posting i of a block with wide postings.
func (v *View) widePosting(i int) (p fb.WidePosting) {
	p.Init(v.b, v.postings.place(i))
	return p
}

// Len returns the number of postings.
func (v *View) Len() int { return int(v.postings.n) }

// Posting returns posting i's match type and its words.
func (v *View) Posting(i int) (search.MatchType, Refs) {
	p := v.posting(i)
	return search.MatchType(p.Type()), v.refs(&p)
}

// Alike returns a number that two postings of a block share if they have the same words and the same
// match type, and otherwise not: an Encoder writes equal references once.
func (v *View) Alike(i int) uint32 {
	p := v.posting(i)
	return uint32(p.First())<<16 | uint32(p.Words())<<8 | uint32(p.Type())
}

// Keyword returns the keyword id of posting i.
func (v *View) Keyword(i int) uint64 {
	if v.postings.size == widePostingSize {
		p := v.widePosting(i)
		return p.Keyword()
	}
	p := v.posting(i)
	return uint64(p.Keyword())
}

// Detail returns the fields that decide the eligibility and score of posting i.
func (v *View) Detail(i int) (keyword, bid uint64, group int, quality, flags uint8) {
	p := v.posting(i)
	keyword, bid = uint64(p.Keyword()), uint64(p.Bid())
	if v.postings.size == widePostingSize {
		w := v.widePosting(i)
		keyword, bid = w.Keyword(), w.Bid()
	}
	return keyword, bid, int(p.Group()), p.Quality(), p.Flags()
}

// Type returns the match type of posting i.
func (v *View) Type(i int) search.MatchType {
	p := v.posting(i)
	return search.MatchType(p.Type())
}

// Quality returns the quality of posting i.
func (v *View) Quality(i int) uint8 {
	p := v.posting(i)
	return p.Quality()
}

// Flags returns the flags of posting i.
func (v *View) Flags(i int) uint8 {
	p := v.posting(i)
	return p.Flags()
}

// Key returns the group key and keyword id by which posting i is ordered among a term's postings.
func (v *View) Key(i int) (group, keyword uint64) { return v.GroupKey(v.GroupOf(i)), v.Keyword(i) }

// GroupOf returns the index of posting i's group.
func (v *View) GroupOf(i int) int {
	p := v.posting(i)
	return int(p.Group())
}

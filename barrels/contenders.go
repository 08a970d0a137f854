package barrels

import (
	"adshard/auction"
	"adshard/barrels/index"
	"adshard/search"
)

// Sift implements search.Sink.
func (f *finder) Sift(list []search.Candidate, best search.Level) []search.Candidate {
	need := f.top.Threshold()
	if f.request.ExactCounts || need == 0 {
		return list
	}
	f.near(list)
	n := 0
	for i := range list {
		if !f.beaten(&list[i], best, need) {
			list[n] = list[i]
			n++
		}
	}
	return list[:n]
}

// beaten tells whether none of a class's postings can reach a score of need.
func (f *finder) beaten(c *search.Candidate, best search.Level, need uint64) bool {
	b, _ := c.Block.(*index.Block)
	if b == nil {
		return false
	}
	s := f.judgement(b).Class(b, int(c.Class))
	return s.Least != index.NoMatch && s.Max*auction.Quality(1, b.Classes()[int(c.Class)].Type.Permille(), best.Permille()) < need
}

// near fetches what is known of classes, so that memory is waited for once and
// not class by class.
func (f *finder) near(list []search.Candidate) {
	for i := range list {
		b, _ := list[i].Block.(*index.Block)
		if b == nil {
			continue
		}
		if j := b.Impacts[f.request.Device].Load(); j != nil {
			f.touched |= j.View | j.Class(b, int(list[i].Class)).Max
		}
	}
}

// Match implements search.Sink.
func (f *finder) Match(list []search.Candidate) {
	f.near(list)
	for i := range list {
		c := &list[i]
		if b, _ := c.Block.(*index.Block); b != nil {
			f.class(b, int(c.Class), c.Level)
		} else {
			f.at(c.Block)
			f.posting(int(c.Class), c.Level)
		}
	}
	if !f.request.ExactCounts { // what is passed over hangs on the best
		f.decide()
	}
}

// class takes a class of a kept block.
func (f *finder) class(b *index.Block, i int, level search.Level) {
	if f.tally.Active() {
		first, end := b.Range(i)
		f.tally.Members(b, b.Members()[first:end])
	}
	j, kind := f.judgement(b), b.Classes()[i].Type
	s, one := j.Class(b, i), auction.Quality(1, kind.Permille(), level.Permille())
	least := index.EffectiveBid(min(max(f.request.Reserve, 1), uint64(index.Undecided)-1)) // and more take part
	if s.Least <= least {
		f.members(b, j.Ranked(b, i), one, least, kind, level)
		return
	}
	f.matched += uint64(s.Live)
	f.candidates += uint64(s.Candidates)
	if most := s.Max * one; s.Candidates > 0 && most >= f.top.Threshold() {
		if len(f.contenders) == mostContenders {
			f.decide()
		}
		f.contenders = append(f.contenders, contender{b, j.Ranked(b, i), most, one, kind, level})
	}
}

// contender is a class, all of it counted, that may have some of the best.
type contender struct {
	block   *index.Block
	entries []index.Impact
	most    uint64 // its highest score
	one     uint64 // Q for quality 1
	kind    search.MatchType
	level   search.Level
}

const (
	// mostContenders are put off at a time.
	mostContenders = 1024
	// firstContenders are looked at before all others.
	firstContenders = 8
)

// decide looks at the contenders put off, the most promising ones first: then few
// of the others have to be looked at.
func (f *finder) decide() {
	rest := f.contenders
	f.nearMembers(rest)
	for n := 0; n < firstContenders && len(rest) > 0; n++ {
		first := 0
		for i := range rest {
			if rest[i].most > rest[first].most {
				first = i
			}
		}
		if rest[first].most < f.top.Threshold() {
			rest = nil
			break
		}
		f.best(&rest[first])
		rest[first] = rest[len(rest)-1]
		rest = rest[:len(rest)-1]
	}
	for i := range rest {
		if rest[i].most >= f.top.Threshold() {
			f.best(&rest[i])
		}
	}
	clear(f.contenders)
	f.contenders = f.contenders[:0]
}

// nearMembers fetches the best members of the first contenders, so that memory is
// waited for once.
func (f *finder) nearMembers(list []contender) {
	const best = 4
	for i := range list[:min(len(list), firstContenders)] {
		c := &list[i]
		members := c.block.Members()
		for _, e := range c.entries[:min(len(c.entries), best)] {
			f.touched |= members[e.Member()].Advertiser
		}
	}
}

// best offers those members of a class that may be among the best: one of each
// advertiser at most.
func (f *finder) best(c *contender) {
	members := c.block.Members()
	for _, e := range c.entries {
		score, m := e.Product()*c.one, &members[e.Member()]
		if score == 0 || e&index.Dominated != 0 || f.top.Lost(score, m.Keyword) {
			return
		}
		f.offer(c.block, m, e.Quality()*c.one, score, c.kind, c.level)
	}
}

// members takes the members of a class one by one; least and less takes no part.
func (f *finder) members(b *index.Block, entries []index.Impact, one uint64, least index.EffectiveBid, kind search.MatchType, level search.Level) {
	members := b.Members()
	for _, e := range entries {
		m := &members[e.Member()]
		switch w := e.Bid(); {
		case w == index.Undecided:
			f.at(b)
			f.posting(int(m.Posting), level)
		case w == index.NoMatch:
		default:
			f.matched++
			if w <= least {
				continue
			}
			f.candidates++
			if score := e.Product() * one; !f.top.Lost(score, m.Keyword) {
				f.offer(b, m, e.Quality()*one, score, kind, level)
			}
		}
	}
}

// offer offers a posting that has passed everything to the best.
func (f *finder) offer(b *index.Block, m *index.Member, quality, score uint64, kind search.MatchType, level search.Level) {
	f.top.Offer(m.Advertiser, score, m.Keyword, found{
		view: &b.View, posting: m.Posting, quality: quality, kind: kind, level: level,
	})
}

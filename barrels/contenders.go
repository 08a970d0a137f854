package barrels

import (
	"adshard/auction"
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
	b, _ := c.Block.(*termBlock)
	if b == nil {
		return false
	}
	s := f.judgement(b).sum(b, int(c.Class))
	return s.least != dead && s.best*auction.Quality(1, b.rows()[int(c.Class)].kind.Permille(), best.Permille()) < need
}

// near fetches what is known of classes, so that memory is waited for once and
// not class by class.
func (f *finder) near(list []search.Candidate) {
	for i := range list {
		b, _ := list[i].Block.(*termBlock)
		if b == nil {
			continue
		}
		if j := b.judged[f.request.Device].Load(); j != nil {
			f.touched |= j.view | j.sum(b, int(list[i].Class)).best
		}
	}
}

// Match implements search.Sink.
func (f *finder) Match(list []search.Candidate) {
	f.near(list)
	for i := range list {
		c := &list[i]
		if b, _ := c.Block.(*termBlock); b != nil {
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
func (f *finder) class(b *termBlock, i int, level search.Level) {
	if f.tally.active {
		first, end := b.of(i)
		f.tally.matches(b, b.members()[first:end])
	}
	j, kind := f.judgement(b), b.rows()[i].kind
	s, one := j.sum(b, i), auction.Quality(1, kind.Permille(), level.Permille())
	least := worth(min(max(f.request.Reserve, 1), uint64(unclear)-1)) // and more take part
	if s.least <= least {
		f.members(b, j.entries(b, i), one, least, kind, level)
		return
	}
	f.matched += uint64(s.live)
	f.candidates += uint64(s.candidates)
	if most := s.best * one; s.candidates > 0 && most >= f.top.Threshold() {
		if len(f.contenders) == mostContenders {
			f.decide()
		}
		f.contenders = append(f.contenders, contender{b, j.entries(b, i), most, one, kind, level})
	}
}

// contender is a class, all of it counted, that may have some of the best.
type contender struct {
	block   *termBlock
	entries []entry
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
		members := c.block.members()
		for _, e := range c.entries[:min(len(c.entries), best)] {
			f.touched |= members[e.member()].advertiser
		}
	}
}

// best offers those members of a class that may be among the best: one of each
// advertiser at most.
func (f *finder) best(c *contender) {
	members := c.block.members()
	for _, e := range c.entries {
		score, m := e.product()*c.one, &members[e.member()]
		if score == 0 || e&surpassed != 0 || f.top.Lost(score, m.keyword) {
			return
		}
		f.offer(c.block, m, e.quality()*c.one, score, c.kind, c.level)
	}
}

// members takes the members of a class one by one; least and less takes no part.
func (f *finder) members(b *termBlock, entries []entry, one uint64, least worth, kind search.MatchType, level search.Level) {
	members := b.members()
	for _, e := range entries {
		m := &members[e.member()]
		switch w := e.worth(); {
		case w == unclear:
			f.at(b)
			f.posting(int(m.posting), level)
		case w == dead:
		default:
			f.matched++
			if w <= least {
				continue
			}
			f.candidates++
			if score := e.product() * one; !f.top.Lost(score, m.keyword) {
				f.offer(b, m, e.quality()*one, score, kind, level)
			}
		}
	}
}

// offer offers a posting that has passed everything to the best.
func (f *finder) offer(b *termBlock, m *member, quality, score uint64, kind search.MatchType, level search.Level) {
	f.top.Offer(m.advertiser, score, m.keyword, found{
		view: &b.view, posting: m.posting, quality: quality, kind: kind, level: level,
	})
}

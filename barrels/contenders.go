package barrels

import (
	"adshard/auction"
	"adshard/search"
)

// PassClass implements search.Sink.
func (f *finder) PassClass(_ search.Block, i int, best search.Level) bool {
	if f.kept == nil || f.request.ExactCounts {
		return false
	}
	need := f.top.Threshold()
	if need == 0 {
		return false
	}
	if f.judged == nil {
		f.judged = f.judgement(f.kept)
	}
	s := &f.judged.sums[i]
	return !s.unclear && s.best*auction.Quality(1, f.kept.classes[i].kind.Permille(), best.Permille()) < need
}

// Match implements search.Sink.
func (f *finder) Match(_ search.Block, i int, level search.Level) {
	b := f.kept
	if b == nil {
		f.posting(i, level)
		return
	}
	if f.judged == nil {
		f.judged = f.judgement(b)
	}
	if f.tally.active {
		first, end := b.of(i)
		f.tally.matches(&b.view, b.members[first:end])
	}
	s, kind := &f.judged.sums[i], b.classes[i].kind
	one := auction.Quality(1, kind.Permille(), level.Permille())
	least := worth(min(max(f.request.Reserve, 1), uint64(unclear)-1)) // and more take part
	if s.unclear || s.least <= least && s.candidates > 0 {
		f.members(i, one, least, level)
		return
	}
	f.matched += uint64(s.live)
	f.candidates += uint64(s.candidates)
	if most := s.best * one; s.candidates > 0 && most >= f.top.Threshold() {
		c := contender{b, f.judged, i, most, one, level}
		if f.request.ExactCounts { // nothing is passed over meanwhile
			if len(f.contenders) == mostContenders {
				f.decide()
			}
			f.contenders = append(f.contenders, c)
		} else {
			f.best(&c)
		}
	}
}

// contender is a class, all of it counted, that may have some of the best.
type contender struct {
	block  *termBlock
	judged *judgement
	class  int
	most   uint64 // its highest score
	one    uint64 // Q for quality 1
	level  search.Level
}

// mostContenders are put off at a time.
const mostContenders = 1024

// decide looks at the contenders put off, the most promising one first: then few
// of the others have to be looked at.
func (f *finder) decide() {
	if len(f.contenders) == 0 {
		return
	}
	first := 0
	for i := range f.contenders {
		if f.contenders[i].most > f.contenders[first].most {
			first = i
		}
	}
	f.best(&f.contenders[first])
	for i := range f.contenders {
		if i != first && f.contenders[i].most >= f.top.Threshold() {
			f.best(&f.contenders[i])
		}
	}
	clear(f.contenders)
	f.contenders = f.contenders[:0]
}

// best offers those members of a class that may be among the best.
func (f *finder) best(c *contender) {
	b := c.block
	first, end := b.of(c.class)
	need := f.top.Threshold()
	worths, qualities := c.judged.worth[first:end], b.qualities[first:end]
	for m, w := range worths {
		if w <= excluded {
			continue
		}
		if q := c.one * uint64(qualities[m]); uint64(w-1)*q >= need {
			f.offer(b, &b.members[first+m], q, uint64(w-1)*q, b.classes[c.class].kind, c.level)
			need = f.top.Threshold()
		}
	}
}

// members takes the members of a class one by one; least and less takes no part.
func (f *finder) members(class int, one uint64, least worth, level search.Level) {
	b := f.kept
	first, end := b.of(class)
	for m, w := range f.judged.worth[first:end] {
		switch {
		case w == unclear:
			f.posting(int(b.members[first+m].posting), level)
			continue
		case w == dead:
			continue
		}
		f.matched++
		if w <= least {
			continue
		}
		f.candidates++
		if q := one * uint64(b.qualities[first+m]); uint64(w-1)*q >= f.top.Threshold() {
			f.offer(b, &b.members[first+m], q, uint64(w-1)*q, b.classes[class].kind, level)
		}
	}
}

// offer offers a posting that has passed everything to the best.
func (f *finder) offer(b *termBlock, m *member, quality, score uint64, kind search.MatchType, level search.Level) {
	f.top.Offer(m.advertiser, score, m.keyword, found{
		view: &b.view, posting: int(m.posting), quality: quality, kind: kind, level: level,
	})
}

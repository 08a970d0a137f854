package barrels

import (
	"adshard/auction"
	"adshard/barrels/block"
	"adshard/barrels/index"
)

// judgement returns what holds for a kept block in this search.
func (f *finder) judgement(b *index.Block) *index.Impacts {
	slot, p := &b.Impacts[f.request.Device], f.state.Parents
	j := slot.Load()
	if j != nil && j.TableNumber == f.served.TableNumber && j.View == f.served.View {
		known := j.ParentsVersion.Load()
		if known == p.Version {
			return j
		}
		if known < p.Version && !p.ChangedSince(known, func(c *index.ParentChange) bool { return c.Touches(&b.View) }) {
			j.ParentsVersion.CompareAndSwap(known, p.Version)
			return j
		}
	}
	j = f.judgeBlock(b)
	slot.Store(j)
	return j
}

// judgeBlock finds out what each posting of a block is worth.
func (f *finder) judgeBlock(b *index.Block) *index.Impacts {
	f.enter(&b.View, b)
	j := index.NewImpacts(b)
	j.TableNumber, j.View = f.served.TableNumber, f.served.View
	j.ParentsVersion.Store(f.state.Parents.Version)
	members := b.Members()
	for c := range b.Signatures() {
		s, entries := j.Class(b, c), j.Ranked(b, c)
		s.Least = index.Undecided
		first, _ := b.Range(c)
		for i := range entries {
			m := first + i
			w, quality := f.worth(&b.View, &members[m]), b.View.Quality(int(members[m].Posting))
			if quality > index.MaxQuality || w > index.NoCandidate && quality == 0 {
				w = index.Undecided
			}
			entries[i] = index.NewImpact(w, quality, m)
			s.Add(w, entries[i].Product())
		}
		index.Rank(entries, members)
	}
	return j
}

func (f *finder) worth(v *block.View, m *index.Member) index.EffectiveBid {
	_, bid, group, _, flags := v.Detail(int(m.Posting))
	if flags&block.Enabled == 0 {
		return index.NoMatch
	}
	g := f.group(v, group)
	switch {
	case g.damaged:
		return index.Undecided // to be named by each search that meets it
	case !g.live:
		return index.NoMatch
	case m.SeveralForms || g.negatives:
		return index.Undecided
	case !g.candidate || flags&block.HasBid == 0:
		return index.NoCandidate
	}
	effective, _, _ := auction.Rank(bid, g.modifier, 0, 0, 0)
	if effective >= uint64(index.Undecided)-1 {
		return index.Undecided
	}
	return index.EffectiveBid(effective) + 1
}

package barrels

import (
	"adshard/auction"
	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/search"
)

// verdict is what holds for all keywords of a group in one query.
type verdict struct {
	block      uint64 // number of the block for which it is known
	advertiser uint64 // id
	modifier   uint64 // permille
	campaign   *index.Campaign
	damaged    bool // a parent is missing
	live       bool // served, enabled all the way up, with an ad
	candidate  bool // and its budget and device modifier allow it
	negatives  bool // it or its campaign has some
}

// Pass implements search.Sink: a block is passed over when none of its
// postings can match, or when all of them are certainly below what is needed
// to be among the best.
func (f *finder) Pass(b search.Block, best search.Level) bool {
	v, kept := viewOf(b)
	live, term := false, f.reading
	if kept != nil {
		live, term = kept.Live, kept.Term
	} else {
		live = v.Live() > 0
		f.enter(v, nil) // on other bytes than before, maybe
	}
	if !live || f.lost(v, kept, best) {
		return true
	}
	if f.tally.Active() {
		f.tally.Enter(v, term)
	}
	return false
}

// lost tells whether all postings of a block are certainly below what is needed to
// be among the best.
func (f *finder) lost(v *block.View, kept *index.Block, best search.Level) bool {
	need, d := f.top.Threshold(), f.request.Device
	if need == 0 || f.request.ExactCounts {
		return false
	}
	if kept != nil {
		return !f.choice.wins(&kept.Bounds[d], best)
	}
	bound := v.Bound(d)
	return !f.choice.wins(&bound, best)
}

// viewOf returns the view of a block that a reader hands over, and the block if
// it is kept in memory.
func viewOf(b search.Block) (v *block.View, kept *index.Block) {
	if kept, _ = b.(*index.Block); kept != nil {
		return &kept.View, kept
	}
	v, _ = b.(*block.View)
	return v, nil
}

// at makes b, which was not passed over, the block whose groups are judged.
func (f *finder) at(b search.Block) {
	if v, kept := viewOf(b); f.block != v {
		f.enter(v, kept)
	}
}

// enter makes v the block whose groups are judged. Views are opened again and
// again on other bytes, so that their address does not tell blocks apart.
func (f *finder) enter(v *block.View, kept *index.Block) {
	f.block, f.kept = v, kept
	f.number++
	if n := v.Groups(); n > len(f.groups) {
		f.groups = make([]verdict, n+n/2)
	}
}

// posting takes one posting that matches.
func (f *finder) posting(i int, level search.Level) {
	v := f.block
	keyword, bid, group, quality, flags := v.Detail(i)
	if flags&block.Enabled == 0 || flags&block.Later != 0 && level <= search.Folded {
		return // the first form agrees as well where no language is needed
	}
	if f.tally.Active() && f.kept == nil {
		f.tally.Match(v, group)
	}
	kind := v.Type(i)
	if !f.request.ExactCounts && f.hopeless(v, group, bid, quality, kind, level) {
		return
	}
	g := f.group(v, group)
	if g.damaged { // it should be served
		f.bad = append(f.bad, index.Interval{Lo: v.GroupKey(group), Hi: v.GroupKey(group)})
	}
	if !g.live {
		return
	}
	again := flags&block.Several != 0 && level > search.Folded && f.again(keyword)
	if !again {
		f.matched++
	}
	if !g.candidate || flags&block.HasBid == 0 {
		return
	}
	effective, q, score := auction.Rank(bid, g.modifier, uint64(quality), kind.Permille(), level.Permille())
	if effective == 0 || effective < f.request.Reserve {
		return
	}
	wanted := f.top.Wants(g.advertiser, score, keyword)
	if !wanted && (again || !f.request.ExactCounts) || g.negatives && f.blocked(v, group, g) {
		return
	}
	if !again {
		f.candidates++
	}
	if wanted {
		hit := found{view: v, posting: uint16(i), quality: q, kind: kind, level: level}
		if f.kept == nil { // the view will be opened on other bytes
			ids := idsOf(v, i)
			hit.view, hit.copied = nil, &ids
		}
		f.top.Offer(g.advertiser, score, keyword, hit)
	}
}

// hopeless tells whether a keyword is certainly below what is needed to be
// among the best, whatever its campaign and its advertiser are: then they need
// not be looked up. It is not counted; totals are lower bounds.
func (f *finder) hopeless(v *block.View, group int, bid uint64, quality uint8, kind search.MatchType, level search.Level) bool {
	need := f.top.Threshold()
	if need == 0 {
		return false
	}
	d := f.request.Device
	modifier := uint64(v.GroupModifier(group, d))
	if modifier == block.NotSet {
		modifier = f.state.Parents.MaxModifier[d]
	}
	_, _, score := auction.Rank(bid, modifier, uint64(quality), kind.Permille(), level.Permille())
	return score < need
}

// again tells whether a keyword was counted before, and counts it.
func (f *finder) again(keyword uint64) bool {
	n := len(f.seen)
	f.seen[keyword] = struct{}{}
	return len(f.seen) == n
}

// group returns what holds for a group of the block at hand.
func (f *finder) group(v *block.View, i int) *verdict {
	g := &f.groups[i]
	if g.block != f.number {
		f.judge(v, i, g)
	}
	return g
}

// judge finds out what holds for the group of index i.
func (f *finder) judge(v *block.View, i int, g *verdict) {
	*g = verdict{block: f.number}
	flags := v.GroupFlags(i)
	if flags&block.GroupLive != block.GroupLive || !f.served.Holds(v.GroupKey(i)) {
		return
	}
	p := f.state.Parents
	campaign, owner := v.GroupParents(i)
	c, ok := p.Campaigns.Get(campaign)
	a, ok2 := p.Advertisers.Get(owner)
	if g.damaged = !ok || !ok2; g.damaged {
		return
	}
	g.live = c.Enabled && a.Enabled
	g.campaign, g.advertiser = c.Campaign, owner
	g.negatives = c.HasNegatives || flags&block.GroupNegatives != 0
	d := f.request.Device
	own, inherited := v.GroupModifier(i, d), c.Modifiers[d]
	var shown bool
	g.modifier, shown = auction.Modifier(uint64(own), own != block.NotSet, uint64(inherited), inherited != block.NotSet)
	g.candidate = g.live && shown && !c.Exhausted
}

// blocked tells whether a negative of the campaign or of the group blocks the
// query; each is looked at once a query.
func (f *finder) blocked(v *block.View, group int, g *verdict) bool {
	if len(g.campaign.Negatives) > 0 {
		b, known := f.blockedCampaigns[g.campaign]
		if !known {
			b = g.campaign.Negatives.Block(f.request.Query)
			f.blockedCampaigns[g.campaign] = b
		}
		if b {
			return true
		}
	}
	if v.GroupFlags(group)&block.GroupNegatives == 0 {
		return false
	}
	key := v.GroupKey(group)
	b, known := f.blockedGroups[key]
	if !known {
		b = f.blockedByGroup(key)
		f.blockedGroups[key] = b
	}
	return b
}

// blockedByGroup looks at a group's own negatives. A group that cannot be read
// is damage: not shown, and the answer says that it is incomplete.
func (f *finder) blockedByGroup(key uint64) bool {
	g, ok := f.items(key)
	if !ok {
		f.bad = append(f.bad, index.Interval{Lo: key, Hi: key})
		return true
	}
	return g.Negatives.Block(f.request.Query)
}

package barrels

import (
	"cmp"
	"context"
	"slices"

	"adshard/auction"
	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/schema/pb"
	"adshard/search"
)

// Explain implements search.Explainer. It is the slow path: it reads every
// block of the query's terms and judges every keyword that matches.
func (s *store) Explain(ctx context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	if err := checkRequest(r); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ended(ctx, "barrels: explain")
	}
	st := s.Acquire()
	if st == nil {
		return nil, s.errClosed("barrels: explain")
	}
	defer st.Release()
	f := finders.Get().(*finder)
	defer f.free()
	if err := f.reset(st, r, s, "barrels: explain"); err != nil {
		return nil, err
	}
	f.pick = nil // nothing is passed over
	c := &collector{finder: f, matches: make(map[uint64]*match)}
	if _, err := search.Scan(ctx, r.Query, r.Profile, &f.reader, c); err != nil {
		return nil, err
	}
	out := &search.Explanation{
		Total: uint64(len(c.matches)), View: f.served.View, Shard: st.Slices.Shard, AppliedClock: st.Position.GetClock(),
	}
	for _, m := range c.best(limit) {
		if err := ctx.Err(); err != nil {
			return nil, ended(ctx, "barrels: explain")
		}
		if e, ok := f.explain(m); ok {
			out.Matches = append(out.Matches, e)
		}
	}
	out.Width = s.width(f)
	return out, nil
}

// collector is a sink that keeps every keyword that matches.
type collector struct {
	*finder
	matches map[uint64]*match // by keyword id
}

// match is a keyword that matches, with its score.
type match struct {
	kv.Place
	head               block.Group
	bid                uint64
	flags              uint8
	level              search.Level
	kind               search.MatchType
	modifier           uint64
	shown              bool
	effective, q, rank uint64
	campaign           index.CampaignState
	advertiser         index.AdvertiserState
}

// Pass implements search.Sink: nothing is passed over.
func (c *collector) Pass(search.Block, search.Level) bool { return false }

// Sift implements search.Sink: nothing is left out.
func (c *collector) Sift(list []search.Candidate, _ search.Level) []search.Candidate { return list }

// Match implements search.Sink.
func (c *collector) Match(list []search.Candidate) {
	for i := range list {
		v, kept := viewOf(list[i].Block)
		if kept == nil {
			c.posting(v, int(list[i].Class), list[i].Level)
			continue
		}
		first, end := kept.Range(int(list[i].Class))
		for _, m := range kept.Members()[first:end] {
			c.posting(v, int(m.Posting), list[i].Level)
		}
	}
}

// posting takes one that matches: the best level of a keyword's forms counts.
func (c *collector) posting(v *block.View, i int, level search.Level) {
	keyword, bid, group, quality, flags := v.Detail(i)
	if old := c.matches[keyword]; old != nil && old.level <= level || !c.served.Holds(v.GroupKey(group)) {
		return
	}
	m := &match{head: v.Group(group), bid: bid, flags: flags, level: level}
	m.Place = kv.Place{Key: m.head.Key, Keyword: keyword}
	m.kind = v.Type(i)
	if !c.parents(m) {
		return
	}
	if flags&block.HasBid == 0 {
		m.bid = 0
	}
	m.effective, m.q, m.rank = auction.Rank(m.bid, m.modifier, uint64(quality), m.kind.Permille(), level.Permille())
	c.matches[keyword] = m
}

// parents finds a match's campaign and advertiser and the modifier that holds.
func (c *collector) parents(m *match) bool {
	var ok, ok2 bool
	m.campaign, ok = c.state.Parents.Campaigns.Get(m.head.Campaign)
	m.advertiser, ok2 = c.state.Parents.Advertisers.Get(m.head.Advertiser)
	if !ok || !ok2 {
		c.bad = append(c.bad, index.Interval{Lo: m.Key, Hi: m.Key})
		return false
	}
	d := c.request.Device
	own, inherited := m.head.Modifiers[d], m.campaign.Modifiers[d]
	_, m.shown = auction.Modifier(uint64(own), own != block.NotSet, uint64(inherited), inherited != block.NotSet)
	m.modifier = auction.NoModifier
	if inherited != block.NotSet {
		m.modifier = uint64(inherited)
	}
	if own != block.NotSet {
		m.modifier = uint64(own)
	}
	return true
}

// best returns the first limit matches by score falling, then keyword rising.
func (c *collector) best(limit int) []*match {
	list := make([]*match, 0, len(c.matches))
	for _, m := range c.matches {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *match) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.Place.Keyword, b.Place.Keyword))
	})
	return list[:max(0, min(limit, len(list)))]
}

// explain fills in what only the records know; false: one is damaged.
func (f *finder) explain(m *match) (search.Explained, bool) {
	e := search.Explained{
		Hit: search.Hit{
			Keyword: m.Place.Keyword, Group: m.head.ID, Campaign: m.campaign.ID, Advertiser: m.advertiser.ID,
			Score: m.rank, Quality: m.q, Type: m.kind, Level: m.level,
			Shown: &search.Shown{AdvertiserName: m.advertiser.Name, CampaignName: m.campaign.Name},
		},
		Bid: m.bid, Modifier: m.modifier, Effective: m.effective, Slice: f.served.Slice(m.Key),
	}
	g, ok := f.items(m.Key)
	k, err := f.keyword(m.Place)
	if !ok || err != nil {
		f.bad = append(f.bad, index.Interval{Lo: m.Key, Hi: m.Key})
		return e, false
	}
	e.GroupName, e.KeywordText, e.BidFromGroup = g.Name, k.Text, k.BidFromGroup
	e.Verdict = f.verdict(m)
	if e.Verdict == search.Eligible {
		f.negative(&e, g, m.campaign.Campaign)
	}
	if len(g.Ads) > 0 {
		e.Ad = g.Ads[0]
		if m.campaign.RotateEvenly {
			e.Ad = f.pickAd(g, m.head.ID)
		}
	}
	e.Words = agreements(f.request, k)
	return e, true
}

// keyword reads a keyword's record.
func (f *finder) keyword(at kv.Place) (*pb.Keyword, error) {
	k, err := f.findKeyword(at)
	if err != nil {
		return nil, err
	}
	return k.Message()
}

// verdict is the first that holds, in the order of search.Verdict; negatives
// are still to come.
func (f *finder) verdict(m *match) search.Verdict {
	switch {
	case m.flags&block.Enabled == 0:
		return search.KeywordPaused
	case m.head.Flags&block.GroupEnabled == 0:
		return search.GroupPaused
	case !m.campaign.Enabled:
		return search.CampaignPaused
	case !m.advertiser.Enabled:
		return search.AdvertiserPaused
	case m.head.Flags&block.GroupHasAd == 0:
		return search.NoAd
	case m.campaign.Exhausted:
		return search.BudgetExhausted
	case m.flags&block.HasBid == 0:
		return search.NoBid
	case !m.shown:
		return search.DeviceOff
	case m.effective == 0 || m.effective < f.request.Reserve:
		return search.BelowReserve
	}
	return search.Eligible
}

// negative names the first negative that blocks: the group's before the
// campaign's, by rising id.
func (f *finder) negative(e *search.Explained, g *index.Group, c *index.Campaign) {
	n, owner := g.Negatives.First(f.request.Query), "group"
	if n == nil {
		n, owner = c.Negatives.First(f.request.Query), "campaign"
	}
	if n != nil {
		e.Verdict = search.BlockedByNegative
		e.Negative, e.NegativeOwner, e.NegativeType = n.Text, owner, search.MatchType(n.Type)
	}
}

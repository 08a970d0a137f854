package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"adshard/auction"
	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/targeting"
)

// Explain explains a request for which Check returns nil: it returns the first `limit` matching keywords,
// by score descending, then keyword ascending. It is the slow path: it reads every block of the query's
// terms and judges every keyword that matches. If the request names keywords, it reads all groups and
// explains those keywords instead. With a limit of 0 it counts the verdicts. Errors are those of Search.
func (c *Engine) Explain(ctx context.Context, st *index.Snapshot, r *search.Request, limit int) (*search.Explanation, Damage, error) {
	if ctx.Err() != nil {
		return nil, Damage{}, kv.Ended(ctx, "barrels: explain")
	}
	e, err := c.begin(st, r, "barrels: explain")
	if err != nil {
		return nil, Damage{}, err
	}
	defer e.end()
	e.context.Reset(r.Context, true)
	all := &explanation{eligibility: &e.eligibility, matches: make(map[kv.Place]*match)}
	out := &search.Explanation{View: e.served.View, Shard: st.Slices.Shard, AppliedClock: st.Position.GetClock(), Scorer: r.Scorer}
	if r.Wanted.Any() {
		out.Total, err = e.findWanted(ctx, all, limit)
	} else {
		e.scan.reset(all, false)
		e.scan.deadBlocks = true
		err = e.scan.run(ctx)
		out.Total = uint64(len(all.matches))
	}
	if err == nil {
		err = e.errUnresolved("barrels: explain")
	}
	if err != nil {
		return nil, Damage{}, err
	}
	if limit == 0 {
		if err := all.count(ctx, &out.Counts); err != nil {
			return nil, Damage{}, err
		}
	}
	for _, m := range all.best(limit) {
		if ctx.Err() != nil {
			return nil, Damage{}, kv.Ended(ctx, "barrels: explain")
		}
		if x, ok := all.explain(m); ok {
			out.Matches = append(out.Matches, x)
		}
	}
	out.Width = e.served.Without(e.bad)
	return out, e.damage(), nil
}

// explanation is a sink that keeps every keyword that matches.
type explanation struct {
	*eligibility
	matches map[kv.Place]*match // a damaged bucket may have an id in two groups, and searches count both
}

// match is a matching keyword with its score.
type match struct {
	kv.Place
	groupStatus
	group                 uint64 // id
	bid                   uint64
	flags                 uint8
	device                uint16 // the group's own modifier on the request's device, as in a block
	level                 search.Level
	kind                  search.MatchType
	effective, q, ranking uint64
	features              auction.Features
}

// enter implements sink.
func (x *explanation) enter(blockRef, uint64) {}

// match implements sink.
func (x *explanation) match(list []classRef) {
	for i := range list {
		c := &list[i]
		if c.cached == nil {
			x.posting(c.view, int(c.class), c.level)
			continue
		}
		first, end := c.cached.Range(int(c.class))
		for _, m := range c.cached.Members()[first:end] {
			x.posting(c.view, int(m), c.level)
		}
	}
}

// posting adds a matching posting. Of several forms of a keyword it keeps the one with the best level.
func (x *explanation) posting(v *block.View, i int, level search.Level) {
	keyword, bid, group, quality, flags := v.Detail(i)
	key := v.GroupKey(group)
	place := kv.Place{Key: key, Keyword: keyword}
	if old := x.matches[place]; old != nil && old.level <= level {
		return
	}
	m := &match{Place: place, group: v.GroupID(group), bid: bid, flags: flags, level: level, kind: v.Type(i),
		device: v.GroupModifier(group, x.request.Device)}
	x.setStatus(v, group, &m.groupStatus, true)
	switch {
	case !m.served:
		return
	case m.damaged:
		x.damagedAt(key)
		return
	}
	_, words := v.Posting(i)
	x.rank(m, quality, words.Len())
}

// rank adds a keyword with the given number of words and its score.
func (x *explanation) rank(m *match, quality uint8, words int) {
	if m.flags&block.HasBid == 0 {
		m.bid = 0
	}
	m.effective, m.q, m.ranking = auction.Rank(m.bid, m.modifier, uint64(quality), m.kind.Permille(), m.level.Permille())
	if x.scorer.scoring != nil && m.level != search.NoLevel {
		m.features = featuresOf(m.kind, words, quality, &m.groupStatus)
		m.q, m.ranking = auction.Scored(m.effective, m.q, x.scorer.scoring.Factor(&m.features))
	}
	x.matches[m.Place] = m
}

// best returns the first `limit` matches, by score descending, then keyword ascending.
func (x *explanation) best(limit int) []*match {
	list := make([]*match, 0, len(x.matches))
	for _, m := range x.matches {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *match) int {
		return cmp.Or(cmp.Compare(b.ranking, a.ranking), cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Key, b.Key))
	})
	return list[:max(0, min(limit, len(list)))]
}

// count counts the verdicts of all matches. Errors: those of ctx.
func (x *explanation) count(ctx context.Context, counts *[search.Verdicts]uint64) error {
	for _, m := range x.matches {
		if ctx.Err() != nil {
			return kv.Ended(ctx, "barrels: explain")
		}
		counts[x.verdictOf(m)]++
	}
	return nil
}

// verdictOf returns the verdict of a keyword, whether or not it matches.
func (x *explanation) verdictOf(m *match) search.Verdict {
	v := m.verdict(m.flags, m.effective, x.request.Reserve)
	if m.flags&block.Enabled != 0 && m.reason == search.Eligible && x.context.urls && x.urlBlocked(m.Place) {
		return search.Blocked
	}
	if v == search.Eligible && m.level != search.NoLevel && x.blocked(m.Key, &m.groupStatus) {
		return search.BlockedByNegative
	}
	if v == search.Eligible && x.scorer.scoring != nil && m.level != search.NoLevel && m.q == 0 {
		return search.ScoredOut
	}
	return v
}

// explain completes a match with data that only the records have. It returns false if a record is damaged.
func (x *explanation) explain(m *match) (search.Explained, bool) {
	e := search.Explained{
		Hit: search.Hit{
			Keyword: m.Keyword, Group: m.group, Campaign: m.campaign.ID, Advertiser: m.owner.ID,
			Score: m.ranking, Quality: m.q, Type: m.kind, Level: m.level,
		},
		AdvertiserName: m.owner.Name, CampaignName: m.campaign.Name,
		Bid: m.bid, Modifier: m.modifier, Effective: m.effective, Slice: x.served.Slice(m.Key),
		Withheld: m.campaign.Withheld,
	}
	g, ok := x.eligibility.group(m.Key)
	k, err := x.message(m.Place)
	if !ok || err != nil {
		x.damagedAt(m.Key)
		return e, false
	}
	e.GroupName, e.KeywordText, e.BidFromGroup = g.Name, k.Text, k.BidFromGroup
	e.Points, e.Learned, e.Given = uint8(k.Quality), k.Learned, uint8(k.Given)
	if x.scorer.scoring != nil && m.level != search.NoLevel {
		e.Scored = x.scorer.explain(&m.features)
	}
	e.Verdict, e.Context = x.verdictOf(m), m.outcome
	x.nameModifier(&e, m)
	switch e.Verdict {
	case search.GroupPaused:
		e.Held = g.Held
	case search.CampaignPaused:
		e.Held = m.campaign.Held
	}
	if m.level == search.NoLevel {
		if m.flags&block.Enabled != 0 && m.reason == search.Eligible {
			e.Verdict = search.Unmatched
		}
		disagreements(&e, x.request, k)
		return e, true
	}
	if e.Verdict == search.BlockedByNegative {
		x.nameBlocker(&e, g, &m.groupStatus)
	}
	if e.Verdict == search.Blocked && m.outcome != nil && m.outcome.Verdict == targeting.Pass {
		e.Context = x.blockOfURL(g, m)
	}
	e.Words = agreements(x.request, k)
	e.Defaults = x.defaults(m, g, k.Text)
	return e, true
}

// nameModifier sets the device's factor of the modifier, and whether the product was clamped.
func (x *explanation) nameModifier(e *search.Explained, m *match) {
	inherited := m.campaign.Modifiers[x.request.Device]
	device, _ := modifier(m.device, uint64(inherited), inherited != block.NotSet)
	if device != targeting.Default {
		e.Device = &search.DeviceFactor{Permille: device, OfGroup: m.device != block.NotSet}
	}
	if o := m.outcome; o != nil && o.Verdict == targeting.Pass {
		e.Clamped = o.Factors.Clamped(device)
	}
}

// defaults returns the texts of the displayed ad in which a default stands in for the keyword.
func (x *explanation) defaults(m *match, g *index.Group, keyword string) []string {
	if !g.Filled {
		return nil
	}
	ads := g.Ads.Read()
	if shown := x.shown(g, m.Place); len(shown) > 0 {
		ads = shown
	}
	i := 0
	if m.campaign.RotateEvenly {
		i = auction.PickAd(x.request.RequestID, m.group, len(ads))
	}
	_, list := ads[i].Filled(keyword)
	return list
}

// blockOfURL returns the outcome for a keyword if a block meets its page, or those of all ads of its group. Its verdict is still Pass,
// since the modifier has the factors of targeting.
func (x *explanation) blockOfURL(g *index.Group, m *match) *targeting.Outcome {
	o := *m.outcome
	url, _ := x.keywordURL(g, m.Place)
	whose := "the keyword's"
	if ads := g.Ads.Read(); url == "" && len(ads) > 0 {
		url, whose = ads[0].FinalURL, fmt.Sprintf("ad %d's", ads[0].ID)
	}
	o.Criterion = x.context.request.BlockOfURL(url, whose)
	return &o
}

// message reads a keyword's record as a message.
func (x *explanation) message(at kv.Place) (*pb.Keyword, error) {
	k, err := x.keyword(at)
	if err != nil {
		return nil, err
	}
	return k.Message()
}

// nameBlocker names the first negative that blocks: the group's negatives come before the campaign's, these
// before the advertiser's, each by ascending id.
func (x *explanation) nameBlocker(e *search.Explained, g *index.Group, s *groupStatus) {
	n, owner := g.Negatives.First(x.request.Query), "group"
	if n == nil {
		n, owner = s.campaign.Campaign.Negatives.First(x.request.Query), "campaign"
	}
	if n == nil {
		n, owner = s.owner.Advertiser.Negatives.First(x.request.Query), "advertiser"
	}
	if n != nil {
		e.Negative, e.NegativeOwner, e.NegativeType = n.Text, owner, search.MatchType(n.Type)
	}
}

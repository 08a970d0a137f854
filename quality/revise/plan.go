package revise

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"adshard/backend"
	"adshard/quality"
)

// Options of a revision.
type Options struct {
	quality.Options // Factor is set by match types
	// Today is the day that counts are as old as they are on.
	Today int32
	// Scale is what one point of quality stands for; 0: that of the keywords that were
	// shown (quality.ScaleOf).
	Scale quality.Scale
}

// Plan is what a revision would change.
type Plan struct {
	Model *quality.Model
	Scale quality.Scale
	// Changes are the keywords whose quality changes, in ascending order of group and
	// keyword.
	Changes []Change
	// Left is how many keywords of the groups that were counted keep their quality;
	// Unknown how many keywords were counted that are not in the database.
	Left, Unknown int

	data *data
}

// Find returns the key of a keyword of the groups that were counted.
func (p *Plan) Find(keyword uint64) (quality.Key, bool) {
	for k := range p.data.keywords {
		if k.Keyword == keyword {
			return k, true
		}
	}
	return quality.Key{}, false
}

// Change is a keyword whose quality changes.
type Change struct {
	Key     quality.Key
	Keyword backend.Keyword
	// The names of its owners.
	Advertiser, Campaign, Group string
	To                          uint8
	Estimate                    quality.Estimate
}

// Make plans a revision: of all keywords of the groups that were counted, whether shown
// or not. It fails if the database cannot be read or options are invalid.
func Make(ctx context.Context, feed backend.Feed, counts *quality.Counts, o Options) (p *Plan, err error) {
	snapshot, err := feed.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	known, err := read(ctx, snapshot, counts)
	if err != nil {
		return nil, err
	}
	o.Factor = known.factor
	p = &Plan{Scale: o.Scale, data: known}
	if p.Model, err = quality.Learn(counts, o.Today, o.Options); err != nil {
		return nil, err
	}
	if p.Scale == 0 {
		p.Scale = known.scale(p.Model)
	}
	for i := range known.groups {
		p.group(&known.groups[i])
	}
	p.Unknown = len(known.counted)
	for k := range known.counted {
		if known.keywords[k] != nil {
			p.Unknown--
		}
	}
	return p, nil
}

// group plans the keywords of a group.
func (p *Plan) group(g *group) {
	for i := range g.keywords {
		k := &g.keywords[i]
		key := quality.Key{Campaign: g.CampaignID, Group: g.ID, Keyword: k.ID}
		e := p.Model.Estimate(key)
		to := quality.Quality(p.Scale.Points(e.Bound), k.Quality)
		if to == k.Quality {
			p.Left++
			continue
		}
		p.Changes = append(p.Changes, Change{Key: key, Keyword: *k, Advertiser: g.advertiser, Campaign: g.campaign, Group: g.Name, To: to, Estimate: e})
	}
}

// data is what the database has of what was counted.
type data struct {
	groups []group // in ascending order of ids
	// keywords are those of the groups, under the keys that counts would have; counted
	// are the keys of keywords that were counted.
	keywords map[quality.Key]*backend.Keyword
	counted  map[quality.Key]bool
}

type group struct {
	backend.Group
	advertiser, campaign string
	keywords             []backend.Keyword
}

// readTogether is how many groups are read at once.
const readTogether = 256

func read(ctx context.Context, s backend.Snapshot, counts *quality.Counts) (*data, error) {
	d := &data{keywords: make(map[quality.Key]*backend.Keyword), counted: make(map[quality.Key]bool)}
	ids := make(map[uint64]bool)
	for c := range counts.All() {
		ids[c.Group] = true
		k := c.Key
		k.Ad = 0
		d.counted[k] = true
	}
	names := owners{s: s, names: make(map[uint64][2]string)}
	for some := range slices.Chunk(sorted(ids), readTogether) {
		items, err := s.Items(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			g := group{Group: it.Group, keywords: it.Keywords}
			if g.advertiser, g.campaign, err = names.of(ctx, it.Group.CampaignID); err != nil {
				return nil, err
			}
			d.add(g)
		}
	}
	return d, nil
}

func (d *data) add(g group) {
	d.groups = append(d.groups, g)
	for i := range g.keywords {
		k := &g.keywords[i]
		d.keywords[quality.Key{Campaign: g.CampaignID, Group: g.ID, Keyword: k.ID}] = k
	}
}

// factor is that of a keyword's match type (serving.md §4); one that is gone has one.
func (d *data) factor(k quality.Key) float64 {
	k.Ad = 0
	if known := d.keywords[k]; known != nil {
		return float64(known.Type.Permille()) / 1000
	}
	return 1
}

// scale is that of the keywords that were shown.
func (d *data) scale(m *quality.Model) quality.Scale {
	var rates []float64
	for k := range d.counted {
		if d.keywords[k] != nil {
			rates = append(rates, m.Estimate(k).Rate)
		}
	}
	return quality.ScaleOf(rates) // which sorts them
}

// owners reads names once.
type owners struct {
	s     backend.Snapshot
	names map[uint64][2]string // advertiser and campaign, by campaign
}

func (o *owners) of(ctx context.Context, campaign uint64) (advertiser, name string, err error) {
	if n, ok := o.names[campaign]; ok {
		return n[0], n[1], nil
	}
	campaigns, err := o.s.Campaigns(ctx, []uint64{campaign})
	if err != nil || len(campaigns) == 0 {
		return "", "", errors.Join(err, missing("campaign", campaign, len(campaigns)))
	}
	advertisers, err := o.s.Advertisers(ctx, []uint64{campaigns[0].AdvertiserID})
	if err != nil || len(advertisers) == 0 {
		return "", "", errors.Join(err, missing("advertiser", campaigns[0].AdvertiserID, len(advertisers)))
	}
	o.names[campaign] = [2]string{advertisers[0].Name, campaigns[0].Name}
	return advertisers[0].Name, campaigns[0].Name, nil
}

func missing(what string, id uint64, found int) error {
	if found > 0 {
		return nil
	}
	return fmt.Errorf("revise: the database has something of %s %d, but not the %s itself", what, id, what)
}

func sorted(ids map[uint64]bool) []uint64 {
	list := make([]uint64, 0, len(ids))
	for id := range ids {
		list = append(list, id)
	}
	slices.Sort(list)
	return list
}

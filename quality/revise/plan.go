package revise

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"adshard/backend"
	"adshard/quality"
)

// Options of a revision.
type Options struct {
	quality.Options // Factor is set by match types
	// Today is the day up to which counts are aged.
	Today int32
	// Scale is the click rate of one point of quality. 0 means the scale of the keywords shown
	// (quality.ScaleOf), or Kept if that differs by at most a quarter.
	Scale, Kept quality.Scale
	// Find lists the keywords whose keys Plan.Find must know.
	Find []uint64
	// Lapsed are groups whose learned qualities are taken back, unless they have counts.
	Lapsed []uint64
}

// keptWithin is the largest factor by which a kept scale may differ.
const keptWithin = 1.25

// Plan is what a revision would change.
type Plan struct {
	Model *quality.Model
	Scale quality.Scale
	// Changes are the keywords whose learned quality changes, in ascending order of group and
	// keyword.
	Changes []Change
	// Left is the number of keywords in the examined groups that keep their quality. Unknown is the
	// number of counted keywords that the database does not have.
	Left, Unknown int
	// Pause is how long Write waits between two transactions, so that it does not hold up others.
	Pause time.Duration
	// Erasures, unless nil, is what Erasures returned before the counts were read.
	Erasures []byte

	found map[uint64]quality.Key // keys of the keywords in Options.Find
}

// Find returns the key of a keyword of Options.Find, if the keyword is in a group that has counts.
func (p *Plan) Find(keyword uint64) (quality.Key, bool) {
	key, ok := p.found[keyword]
	return key, ok
}

// Change is a keyword whose learned quality changes.
type Change struct {
	Key     quality.Key
	Keyword backend.Keyword
	// The names of the keyword's owners.
	Advertiser, Campaign, Group string
	To                          uint8 // 0 if the given quality is to be served
	Estimate                    quality.Estimate
}

// learned returns the patch that is written.
func (c *Change) learned() backend.Patch[backend.Learned] {
	if c.To == 0 {
		return backend.Patch[backend.Learned]{Op: backend.Reset}
	}
	s := c.Estimate.Steps[c.Estimate.Level]
	return backend.To(backend.NewLearned(c.To, uint8(s.Level), s.Impressions, s.Clicks))
}

// Make plans a revision of all keywords of the groups that have counts, whether shown or not, and of
// the lapsed groups. It reads these groups twice, some at a time, and keeps only the changes in
// memory. It returns an error if the database cannot be read or the options are invalid.
func Make(ctx context.Context, feed backend.Feed, counts *quality.Counts, o Options) (p *Plan, err error) {
	snapshot, err := feed.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	known := survey(counts)
	if err := each(ctx, snapshot, known.groups, known.add); err != nil {
		return nil, err
	}
	o.Factor = known.factor
	p = &Plan{Scale: o.Scale, Unknown: known.unknown(), found: make(map[uint64]quality.Key)}
	for _, k := range o.Find {
		p.found[k] = quality.Key{}
	}
	if p.Model, err = quality.Learn(counts, o.Today, o.Options); err != nil {
		return nil, err
	}
	if p.Scale == 0 {
		p.Scale = known.scale(p.Model, o.Kept)
	}
	names := owners{s: snapshot, names: make(map[uint64][2]string)}
	err = each(ctx, snapshot, known.and(o.Lapsed), func(it *backend.Item) error {
		if known.counted(it.Group.ID) {
			return p.group(ctx, it, &names)
		}
		return p.back(ctx, it, &names)
	})
	maps.DeleteFunc(p.found, func(_ uint64, k quality.Key) bool { return k == quality.Key{} })
	return p, err
}

// group plans the keywords of a group.
func (p *Plan) group(ctx context.Context, it *backend.Item, names *owners) error {
	for i := range it.Keywords {
		k := &it.Keywords[i]
		key := keyOf(it, k)
		if _, wanted := p.found[k.ID]; wanted {
			p.found[k.ID] = key
		}
		e := p.Model.Estimate(key)
		to := quality.Quality(p.Scale.Points(e.Bound), k.Served())
		if to == k.Served() {
			p.Left++
			continue
		}
		if err := p.change(ctx, it, names, Change{Key: key, Keyword: *k, To: to, Estimate: e}); err != nil {
			return err
		}
	}
	return nil
}

// change adds a change with the names of its owners.
func (p *Plan) change(ctx context.Context, it *backend.Item, names *owners, c Change) (err error) {
	c.Group = it.Group.Name
	c.Advertiser, c.Campaign, err = names.lookUp(ctx, it.Group.CampaignID)
	p.Changes = append(p.Changes, c)
	return err
}

// Given plans that all keywords of an advertiser return to their given qualities. 0 means all
// advertisers.
func Given(ctx context.Context, feed backend.Feed, advertiser uint64) (p *Plan, err error) {
	snapshot, err := feed.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	p = &Plan{}
	names := owners{s: snapshot, names: make(map[uint64][2]string)}
	for it, err := range snapshot.All(ctx) {
		if err != nil {
			return nil, err
		}
		if advertiser != 0 && it.Group.AdvertiserID != advertiser {
			continue
		}
		if err := p.back(ctx, it, &names); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// back plans that the keywords of a group return to their given qualities.
func (p *Plan) back(ctx context.Context, it *backend.Item, names *owners) error {
	for i := range it.Keywords {
		k := &it.Keywords[i]
		if k.Learned == 0 {
			p.Left++
			continue
		}
		if err := p.change(ctx, it, names, Change{Key: keyOf(it, k), Keyword: *k}); err != nil {
			return err
		}
	}
	return nil
}

// Groups returns the group of each keyword that is in one. lapsed are the groups that have learned
// qualities and none of the keywords, in ascending order. It reads the whole database, some groups at
// a time.
func Groups(ctx context.Context, feed backend.Feed, keywords map[uint64]bool) (groups map[uint64]uint64, lapsed []uint64, err error) {
	groups = make(map[uint64]uint64, len(keywords))
	snapshot, err := feed.Snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	for it, err := range snapshot.All(ctx) {
		if err != nil {
			return nil, nil, err
		}
		found, learned := false, false
		for i := range it.Keywords {
			k := &it.Keywords[i]
			if learned = learned || k.Learned != 0; keywords[k.ID] {
				groups[k.ID], found = it.Group.ID, true
			}
		}
		if learned && !found {
			lapsed = append(lapsed, it.Group.ID)
		}
	}
	return groups, lapsed, nil
}

func keyOf(it *backend.Item, k *backend.Keyword) quality.Key {
	return quality.Key{Campaign: it.Group.CampaignID, Group: it.Group.ID, Keyword: k.ID}
}

// readTogether is the number of groups read at once.
const readTogether = 256

// each calls f for each of the groups, in ascending order of ids. It reads some groups at a time.
func each(ctx context.Context, s backend.Snapshot, groups []uint64, f func(*backend.Item) error) error {
	for some := range slices.Chunk(groups, readTogether) {
		items, err := s.Items(ctx, some)
		if err != nil {
			return err
		}
		for _, it := range items {
			if err := f(it); err != nil {
				return err
			}
		}
	}
	return nil
}

// surveyed is what the database has about the keywords that were counted.
type surveyed struct {
	groups []uint64 // groups that have counts, in ascending order
	// types are the factors, in permille, of the match types of the counted keywords, or 0 for
	// keywords that the database does not have.
	types map[quality.Key]uint64
}

func survey(counts *quality.Counts) *surveyed {
	d, ids := &surveyed{types: make(map[quality.Key]uint64)}, make(map[uint64]bool)
	for c := range counts.All() {
		ids[c.Group] = true
		k := c.Key
		k.Ad = 0
		d.types[k] = 0
	}
	d.groups = slices.Sorted(maps.Keys(ids))
	return d
}

func (d *surveyed) add(it *backend.Item) error {
	for i := range it.Keywords {
		k := &it.Keywords[i]
		if _, counted := d.types[keyOf(it, k)]; counted {
			d.types[keyOf(it, k)] = k.Type.Permille()
		}
	}
	return nil
}

// counted reports whether a group has counts.
func (d *surveyed) counted(group uint64) bool {
	_, found := slices.BinarySearch(d.groups, group)
	return found
}

// and returns the groups that have counts together with others, in ascending order.
func (d *surveyed) and(others []uint64) []uint64 {
	all := slices.Concat(d.groups, others)
	slices.Sort(all)
	return slices.Compact(all)
}

func (d *surveyed) unknown() (n int) {
	for _, permille := range d.types {
		if permille == 0 {
			n++
		}
	}
	return n
}

// factor returns the factor of a keyword's match type (serving.md §4), or one if the database does not
// have the keyword.
func (d *surveyed) factor(k quality.Key) float64 {
	k.Ad = 0
	if permille := d.types[k]; permille > 0 {
		return float64(permille) / 1000
	}
	return 1
}

// scale returns the scale of the keywords shown, or Kept if that is close.
func (d *surveyed) scale(m *quality.Model, kept quality.Scale) quality.Scale {
	var rates []float64
	for k, permille := range d.types {
		if permille > 0 {
			rates = append(rates, m.Estimate(k).Rate)
		}
	}
	fresh := quality.ScaleOf(rates) // it sorts the rates
	if kept > 0 && fresh <= kept*keptWithin && kept <= fresh*keptWithin {
		return kept
	}
	return fresh
}

// owners reads each owner's names only once.
type owners struct {
	s     backend.Snapshot
	names map[uint64][2]string // advertiser and campaign, by campaign
}

func (o *owners) lookUp(ctx context.Context, campaign uint64) (advertiser, name string, err error) {
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

package barrels

import (
	"slices"

	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/barrels/record"
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"

	"google.golang.org/protobuf/proto"
)

// parents are the campaigns and advertisers of one published state, shared
// with the next where nothing changed.
type parents struct {
	campaigns   *idTable[campaignEntry]
	advertisers *idTable[advertiserEntry]
	// largest is for each device a modifier (permille) that no campaign's is
	// above; at least 1000, what holds where none is set. Together with a
	// block's bound it bounds scores without a look at the campaigns.
	largest [search.Devices]uint64
	// version is one more than that of the parents before; recent are the last of
	// all changes ever made.
	version uint64
	changes uint64
	recent  [recentChanges]parentChange
}

// campaign is a campaign's record made ready for searches.
type campaign struct {
	id, advertiser uint64
	name           string
	even           bool
	negatives      record.Negatives
}

// campaignEntry is a campaign with what is asked of it for each group that
// matches, in the table itself, since that is asked often.
type campaignEntry struct {
	*campaign
	modifiers          [search.Devices]uint16
	enabled, exhausted bool
	negatives          bool // it has some
}

type advertiser struct {
	id   uint64
	name string
}

type advertiserEntry struct {
	*advertiser
	enabled bool
}

func newParents() *parents {
	p := &parents{campaigns: newIDTable[campaignEntry](idPageBits), advertisers: newIDTable[advertiserEntry](idPageBits)}
	p.largest = [search.Devices]uint64{1000, 1000, 1000}
	return p
}

// copy returns parents that can be changed while p is read.
func (p *parents) copy() *parents {
	c := *p
	c.campaigns, c.advertisers = p.campaigns.copy(), p.advertisers.copy()
	c.version++
	return &c
}

// parentChange is a campaign or an advertiser (the other id is 0) that was
// changed.
type parentChange struct{ version, campaign, advertiser uint64 }

// recentChanges are remembered with the parents.
const recentChanges = 16

// changed remembers a change.
func (p *parents) changed(c parentChange) {
	p.recent[p.changes%recentChanges] = c
	p.changes++
}

// touched tells whether a campaign or an advertiser may have changed after the
// version since; it asks whether those that have are wanted.
func (p *parents) touched(since uint64, wanted func(*parentChange) bool) bool {
	for n := range min(p.changes, recentChanges) {
		c := &p.recent[(p.changes-1-n)%recentChanges]
		if c.version <= since {
			return false
		}
		if wanted(c) {
			return true
		}
	}
	return p.changes > recentChanges
}

func (p *parents) setCampaign(r *pb.Campaign) {
	c := campaignEntry{
		campaign: &campaign{
			id: r.Id, advertiser: r.AdvertiserId, name: r.Name,
			even: r.RotateEvenly, negatives: record.CompileNegatives(r.Negatives),
		},
		modifiers: record.Modifiers(r.Modifiers), enabled: r.Enabled, exhausted: r.BudgetExhausted,
	}
	c.negatives = len(c.campaign.negatives) > 0
	p.campaigns = p.campaigns.set(r.Id, c)
	p.changed(parentChange{version: p.version, campaign: r.Id})
	p.raise(&c)
}

// raise keeps largest an upper bound; only tighten lowers it.
func (p *parents) raise(c *campaignEntry) {
	for d, m := range c.modifiers {
		if m != block.NotSet {
			p.largest[d] = max(p.largest[d], uint64(m))
		}
	}
}

// tighten makes largest the least that holds; it tells whether it changed.
func (p *parents) tighten() bool {
	before := p.largest
	p.largest = newParents().largest
	p.campaigns.each(func(_ uint64, c campaignEntry) { p.raise(&c) })
	return p.largest != before
}

func (p *parents) setAdvertiser(r *pb.Advertiser) {
	p.advertisers = p.advertisers.set(r.Id, advertiserEntry{&advertiser{id: r.Id, name: r.Name}, r.Enabled})
	p.changed(parentChange{version: p.version, advertiser: r.Id})
}

// loadParents reads all parents of a snapshot.
func loadParents(s kv.Snapshot) (*parents, error) {
	p := newParents()
	it := s.Full(kv.Parents)
	defer it.Close()
	for ok := it.Seek(nil); ok; ok = it.Next() {
		if err := p.load(it.Key(), it.Value()); err != nil {
			return nil, err
		}
	}
	return p, it.Err()
}

func (p *parents) load(key, value []byte) error {
	switch {
	case len(key) == 9 && key[0] == kv.CampaignKind:
		r := new(pb.Campaign)
		if err := proto.Unmarshal(value, r); err != nil {
			return kv.Damaged("campaign", err)
		}
		p.setCampaign(r)
	case len(key) == 9 && key[0] == kv.AdvertiserKind:
		r := new(pb.Advertiser)
		if err := proto.Unmarshal(value, r); err != nil {
			return kv.Damaged("advertiser", err)
		}
		p.setAdvertiser(r)
	default:
		return fault.Newf(fault.Corrupt, "barrels: open", "a parent with the unknown key %x; %s", key, kv.Refill)
	}
	return nil
}

// has reports whether searches have a parent as its stored record says. Errors:
// fault.Corrupt for a record that cannot be read.
func (p *parents) has(kind byte, id uint64, record []byte) (bool, error) {
	want := newParents()
	if err := want.load(kv.AppendParentKey(nil, kind, id), record); err != nil {
		return false, err
	}
	if kind == kv.AdvertiserKind {
		a, ok := p.advertisers.get(id)
		b, ok2 := want.advertisers.get(id)
		return ok && ok2 && *a.advertiser == *b.advertiser && a.enabled == b.enabled, nil
	}
	a, ok := p.campaigns.get(id)
	b, ok2 := want.campaigns.get(id)
	return ok && ok2 && a.same(&b) && p.bounds(&a), nil
}

// same tells whether two campaigns are the same to searches.
func (c *campaignEntry) same(d *campaignEntry) bool {
	return c.id == d.id && c.advertiser == d.advertiser && c.name == d.name && c.enabled == d.enabled &&
		c.exhausted == d.exhausted && c.even == d.even && c.modifiers == d.modifiers && c.negatives == d.negatives &&
		slices.EqualFunc(c.campaign.negatives, d.campaign.negatives, func(m, n *pb.Negative) bool { return proto.Equal(m, n) })
}

// bounds tells whether largest bounds a campaign's modifiers.
func (p *parents) bounds(c *campaignEntry) bool {
	for d, m := range c.modifiers {
		if m != block.NotSet && uint64(m) > p.largest[d] {
			return false
		}
	}
	return true
}

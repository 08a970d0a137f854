package barrels

import (
	"slices"

	"adshard/barrels/block"
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"

	"google.golang.org/protobuf/proto"
)

// parents are the campaigns and advertisers of one published state, shared
// with the next where nothing changed.
type parents struct {
	campaigns   *idTable[*campaign]
	advertisers *idTable[*advertiser]
	// largest is for each device a modifier (permille) that no campaign's is
	// above; at least 1000, what holds where none is set. Together with a
	// block's bound it bounds scores without a look at the campaigns.
	largest [search.Devices]uint64
}

// campaign is a campaign's record made ready for searches.
type campaign struct {
	id, advertiser     uint64
	name               string
	enabled, exhausted bool
	even               bool
	modifiers          [search.Devices]uint16 // or block.NotSet
	negatives          negatives
}

type advertiser struct {
	id      uint64
	name    string
	enabled bool
}

func newParents() *parents {
	p := &parents{campaigns: newIDTable[*campaign](idPageBits), advertisers: newIDTable[*advertiser](idPageBits)}
	p.largest = [search.Devices]uint64{1000, 1000, 1000}
	return p
}

// copy returns parents that can be changed while p is read.
func (p *parents) copy() *parents {
	return &parents{campaigns: p.campaigns.copy(), advertisers: p.advertisers.copy(), largest: p.largest}
}

func (p *parents) setCampaign(r *pb.Campaign) {
	c := &campaign{
		id: r.Id, advertiser: r.AdvertiserId, name: r.Name,
		enabled: r.Enabled, exhausted: r.BudgetExhausted, even: r.RotateEvenly,
		modifiers: modifiers(r.Modifiers), negatives: compileNegatives(r.Negatives),
	}
	p.campaigns = p.campaigns.set(r.Id, c)
	p.raise(c)
}

// raise keeps largest an upper bound; only tighten lowers it.
func (p *parents) raise(c *campaign) {
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
	p.campaigns.each(func(_ uint64, c *campaign) { p.raise(c) })
	return p.largest != before
}

func (p *parents) setAdvertiser(r *pb.Advertiser) {
	p.advertisers = p.advertisers.set(r.Id, &advertiser{id: r.Id, name: r.Name, enabled: r.Enabled})
}

// modifiers are a record's modifiers by device, block.NotSet where not set.
func modifiers(m *pb.Modifiers) [search.Devices]uint16 {
	value := func(v *uint32) uint16 {
		if v == nil {
			return block.NotSet
		}
		return uint16(*v)
	}
	if m == nil {
		m = new(pb.Modifiers)
	}
	return [search.Devices]uint16{value(m.Desktop), value(m.Mobile), value(m.Tablet)}
}

// loadParents reads all parents of a snapshot.
func loadParents(s Snapshot) (*parents, error) {
	p := newParents()
	it := s.Full(Parents)
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
	case len(key) == 9 && key[0] == parentCampaign:
		r := new(pb.Campaign)
		if err := proto.Unmarshal(value, r); err != nil {
			return damaged("campaign", err)
		}
		p.setCampaign(r)
	case len(key) == 9 && key[0] == parentAdvertiser:
		r := new(pb.Advertiser)
		if err := proto.Unmarshal(value, r); err != nil {
			return damaged("advertiser", err)
		}
		p.setAdvertiser(r)
	default:
		return fault.Newf(fault.Corrupt, "barrels: open", "a parent with the unknown key %x; %s", key, refill)
	}
	return nil
}

// has tells whether searches have a parent as its record says.
func (p *parents) has(kind byte, id uint64, record []byte, stored bool) bool {
	want := newParents()
	if stored && want.load(appendParentKey(nil, kind, id), record) != nil {
		return false
	}
	if kind == parentAdvertiser {
		a, ok := p.advertisers.get(id)
		b, ok2 := want.advertisers.get(id)
		return ok == ok2 && (!ok || *a == *b)
	}
	a, ok := p.campaigns.get(id)
	b, ok2 := want.campaigns.get(id)
	return ok == ok2 && (!ok || a.same(b) && p.bounds(a))
}

// same tells whether two campaigns are the same to searches.
func (c *campaign) same(d *campaign) bool {
	return c.id == d.id && c.advertiser == d.advertiser && c.name == d.name && c.enabled == d.enabled &&
		c.exhausted == d.exhausted && c.even == d.even && c.modifiers == d.modifiers &&
		slices.EqualFunc(c.negatives, d.negatives, func(m, n *pb.Negative) bool { return proto.Equal(m, n) })
}

// bounds tells whether largest bounds a campaign's modifiers.
func (p *parents) bounds(c *campaign) bool {
	for d, m := range c.modifiers {
		if m != block.NotSet && uint64(m) > p.largest[d] {
			return false
		}
	}
	return true
}

// refill says what to do about a store that cannot be used.
const refill = "stop the slave, empty its directory and start it: it fills itself again (or put a store of `adshard barrels build` there)"

func damaged(what string, err error) error {
	return fault.Newf(fault.Corrupt, "barrels: read", "a damaged %s record: %w; %s", what, err, refill)
}

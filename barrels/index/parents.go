package index

import (
	"reflect"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/barrels/record"
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/targeting"
	"adshard/targeting/zone"
)

// Parents are the campaigns and advertisers of one published state. They share what has not changed with those of the next state.
type Parents struct {
	Campaigns   *idTable[CampaignState]
	Advertisers *idTable[AdvertiserState]
	// MaxModifier has, for each device, an upper bound of all campaigns' modifiers (permille). It is at least 1000, the default. With a
	// block's bound it limits scores without looking at the campaigns.
	MaxModifier [search.Devices]uint64
	// MaxFactor is an upper bound of the factor by which the targeting of any campaign multiplies bids (permille), at least 1000.
	MaxFactor uint64
	// Profiles numbers the profiles of the campaigns' targeting.
	Profiles *Profiles
	orphans  bool // whether some campaign came before its advertiser
	// stale are the advertisers whose campaigns have their old profiles until Settle.
	stale map[uint64]struct{}
	// Reaches is the version of the parents in which the modifiers or the factor of some campaign last changed. What blocks can reach
	// (ListReach) is valid as long as it stays the same.
	Reaches uint64
	// Version is one more than that of the previous state. recent has the latest changes.
	Version uint64
	changes uint64
	recent  [recentChanges]parentChange
}

// Campaign is a campaign's record, prepared for searches.
type Campaign struct {
	ID, Advertiser uint64
	Name           string
	RotateEvenly   bool
	Held           uint32 // why the campaign is held, as a backend.Hold
	Negatives      record.Negatives
	Targeting      *targeting.Campaign // nil if there is none
}

// CampaignState is a campaign with the data that each matching group needs. It is stored in the table itself because it is read often.
type CampaignState struct {
	*Campaign
	Modifiers [search.Devices]uint16
	// Most is the most by which the targeting multiplies bids, in permille. Profile is the number of its profile in Parents.Profiles.
	Most, Profile      uint32
	Enabled, Exhausted bool
	// Withheld is the number of requests in a million in which the campaign takes no part.
	Withheld     uint32
	HasNegatives bool // whether it has negatives
	Targeted     bool // whether its participation and its bids depend on a request's context
}

// Advertiser is what answers show of an advertiser, with its negatives.
type Advertiser struct {
	targeting.Owner
	Name      string
	Negatives record.Negatives
}

// AdvertiserState is an advertiser with its status.
type AdvertiserState struct {
	*Advertiser
	Enabled      bool
	HasNegatives bool // whether it has negatives
}

// NewParents returns an empty set of parents.
func NewParents() *Parents {
	p := &Parents{Campaigns: newIDTable[CampaignState](idPageBits), Advertisers: newIDTable[AdvertiserState](idPageBits)}
	p.MaxModifier, p.MaxFactor = [search.Devices]uint64{1000, 1000, 1000}, 1000
	p.Profiles = newProfiles()
	return p
}

// parentBytes is about the size of a parent with its slot in a table.
const parentBytes = 200

// Bytes returns the approximate size of the parents.
func (p *Parents) Bytes() uint64 {
	return parentBytes * uint64(p.Campaigns.Len()+p.Advertisers.Len())
}

// Copy returns parents that can be changed while p is being read.
func (p *Parents) Copy() *Parents {
	c := *p
	c.Campaigns, c.Advertisers = p.Campaigns.copy(), p.Advertisers.copy()
	c.stale = nil // settled parents have none
	c.Version++
	return &c
}

// parentChange is a change of a campaign or an advertiser. The other id is 0.
type parentChange struct{ version, campaign, advertiser uint64 }

// recentChanges is the number of changes that are remembered.
const recentChanges = 16

// remember records a change.
func (p *Parents) remember(c parentChange) {
	p.recent[p.changes%recentChanges] = c
	p.changes++
}

// forget makes all parents appear changed since any version before this one.
func (p *Parents) forget() {
	for i := range p.recent {
		p.recent[i] = parentChange{version: p.Version}
	}
	p.changes = recentChanges + 1
}

// Changed reports whether a campaign or an advertiser may have changed after the version `since`.
func (p *Parents) Changed(since, campaign, advertiser uint64) bool {
	return p.changedSince(since, func(c *parentChange) bool { return c.campaign == campaign || c.advertiser == advertiser })
}

// ChangedIn reports whether a parent of one of a block's groups may have changed after the version `since`.
func (p *Parents) ChangedIn(since uint64, v *block.View) bool {
	return p.changedSince(since, func(c *parentChange) bool { return c.touches(v) })
}

// changedSince reports whether a wanted change may have been made after the version `since`: either such a change is remembered, or `since`
// is before all remembered ones.
func (p *Parents) changedSince(since uint64, wanted func(*parentChange) bool) bool {
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

// SetCampaign adds or replaces a campaign.
func (p *Parents) SetCampaign(r *pb.Campaign) {
	c := CampaignState{
		Campaign: &Campaign{
			ID: r.Id, Advertiser: r.AdvertiserId, Name: r.Name,
			RotateEvenly: r.RotateEvenly, Held: r.Held, Negatives: record.CompileNegatives(r.Negatives), Targeting: p.Profiles.compile(r),
		},
		Modifiers: record.Modifiers(r.Modifiers), Enabled: r.Enabled, Exhausted: r.BudgetExhausted,
		Withheld: r.Withheld,
	}
	c.HasNegatives, c.Targeted, c.Most = len(c.Campaign.Negatives) > 0, !c.Targeting.Plain(), uint32(c.Targeting.Most())
	if old, ok := p.Campaigns.Get(r.Id); ok && (old.Most != c.Most || old.Modifiers != c.Modifiers) {
		p.Reaches = p.Version
	}
	c.Profile = p.profileOf(&c)
	if _, ok := p.Advertisers.Get(c.Advertiser); !ok {
		p.orphans = true
	}
	p.Campaigns = p.Campaigns.set(r.Id, c)
	p.remember(parentChange{version: p.Version, campaign: r.Id})
	p.raise(&c)
}

// raise raises MaxModifier and MaxFactor to those of a campaign. Only Tighten lowers them.
func (p *Parents) raise(c *CampaignState) {
	p.MaxFactor = max(p.MaxFactor, uint64(c.Most))
	for d, m := range c.Modifiers {
		if m != block.NotSet {
			p.MaxModifier[d] = max(p.MaxModifier[d], uint64(m))
		}
	}
}

// Tighten lowers MaxModifier and MaxFactor to the lowest valid bounds, and renumbers profiles if most are no longer used. It reports
// whether anything changed.
func (p *Parents) Tighten() bool {
	modifier, factor := p.MaxModifier, p.MaxFactor
	least := NewParents()
	p.MaxModifier, p.MaxFactor = least.MaxModifier, least.MaxFactor
	p.Campaigns.each(func(_ uint64, c CampaignState) { p.raise(&c) })
	anew := p.Profiles.len() > 1024+4*p.Campaigns.Len()
	if anew {
		p.Profiles = newProfiles()
		p.renumber(func(*CampaignState) bool { return true })
		p.forget()
	}
	return anew || p.MaxModifier != modifier || p.MaxFactor != factor
}

// SetAdvertiser adds or replaces an advertiser. Settle then updates its campaigns. It returns fault.Version and changes nothing if this
// program does not know the time zone; another zone would show campaigns at hours that they exclude.
func (p *Parents) SetAdvertiser(r *pb.Advertiser) error {
	z := time.UTC // the default, which is not stored
	if r.TimeZone != "" {
		var err error
		if z, err = zone.Load(r.TimeZone); err != nil {
			return fault.Newf(fault.Version, "barrels: advertiser", "advertiser %d: %w (this program has those of %s)", r.Id, err, zone.Version)
		}
	}
	owner := targeting.Owner{ID: r.Id, Zone: z, Categories: r.Categories}
	a := AdvertiserState{Advertiser: &Advertiser{Owner: owner, Name: r.Name, Negatives: record.CompileNegatives(r.Negatives)}, Enabled: r.Enabled}
	a.HasNegatives = len(a.Advertiser.Negatives) > 0
	old, ok := p.Advertisers.Get(r.Id)
	p.Advertisers = p.Advertisers.set(r.Id, a)
	if ok && (old.Zone != a.Zone || !slices.Equal(old.Categories, a.Categories)) || !ok && p.orphans {
		if p.stale == nil {
			p.stale = make(map[uint64]struct{})
		}
		p.stale[r.Id] = struct{}{}
	}
	p.remember(parentChange{version: p.Version, advertiser: r.Id})
	return nil
}

// Settle updates campaigns whose advertisers have changed. It must be called once after changes, before searches see them. If the zone or
// categories of any advertiser changed, it goes once through all campaigns.
func (p *Parents) Settle() {
	if len(p.stale) == 0 {
		return
	}
	p.renumber(func(c *CampaignState) bool { _, stale := p.stale[c.Advertiser]; return stale })
	p.stale = nil
}

// profileOf returns the profile number of a campaign.
func (p *Parents) profileOf(c *CampaignState) uint32 {
	var owner targeting.Owner
	if a, ok := p.Advertisers.Get(c.Advertiser); ok {
		owner = a.Owner
	}
	return p.Profiles.number(c.Targeting, &owner)
}

// renumber looks up the profiles of the selected campaigns again.
func (p *Parents) renumber(which func(*CampaignState) bool) {
	var changed []CampaignState
	p.Campaigns.each(func(_ uint64, c CampaignState) {
		if which(&c) {
			c.Profile = p.profileOf(&c)
			changed = append(changed, c)
		}
	})
	for _, c := range changed {
		p.Campaigns = p.Campaigns.set(c.ID, c)
	}
}

// loadParents reads all parents of a snapshot.
func loadParents(s kv.Snapshot) (*Parents, error) {
	p := NewParents()
	it := s.Full(kv.Parents)
	defer it.Close()
	for ok := it.Seek(nil); ok; ok = it.Next() {
		if err := p.Load(it.Key(), it.Value()); err != nil {
			return nil, err
		}
	}
	p.Settle()
	return p, it.Err()
}

// Load adds a stored parent. It returns fault.Corrupt if the record cannot be read.
func (p *Parents) Load(key, value []byte) error {
	switch {
	case len(key) == 9 && key[0] == kv.CampaignKind:
		r := new(pb.Campaign)
		if err := proto.Unmarshal(value, r); err != nil {
			return kv.Damaged("campaign", err)
		}
		p.SetCampaign(r)
	case len(key) == 9 && key[0] == kv.AdvertiserKind:
		r := new(pb.Advertiser)
		if err := proto.Unmarshal(value, r); err != nil {
			return kv.Damaged("advertiser", err)
		}
		if err := p.SetAdvertiser(r); err != nil {
			return kv.Damaged("advertiser", err)
		}
	default:
		return fault.Newf(fault.Corrupt, "barrels: open", "a parent with the unknown key %x; %s", key, kv.Refill)
	}
	return nil
}

// Matches reports whether the parent that searches use equals its stored record. It returns fault.Corrupt if the record cannot be read.
func (p *Parents) Matches(kind byte, id uint64, record []byte) (bool, error) {
	want := NewParents()
	if err := want.Load(kv.AppendParentKey(nil, kind, id), record); err != nil {
		return false, err
	}
	if kind == kv.AdvertiserKind {
		a, ok := p.Advertisers.Get(id)
		b, ok2 := want.Advertisers.Get(id)
		return ok && ok2 && a.same(&b), nil
	}
	a, ok := p.Campaigns.Get(id)
	b, ok2 := want.Campaigns.Get(id)
	return ok && ok2 && a.same(&b) && p.bounds(&a) && p.profileOf(&a) == a.Profile, nil
}

// same reports whether two advertisers are the same to searches.
func (a *AdvertiserState) same(b *AdvertiserState) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Enabled == b.Enabled && a.HasNegatives == b.HasNegatives &&
		a.Zone == b.Zone && slices.Equal(a.Categories, b.Categories) && a.Advertiser.Negatives.Same(b.Advertiser.Negatives)
}

// same reports whether two campaigns are the same to searches.
func (c *CampaignState) same(d *CampaignState) bool {
	return c.ID == d.ID && c.Advertiser == d.Advertiser && c.Name == d.Name && c.Enabled == d.Enabled &&
		c.Exhausted == d.Exhausted && c.Withheld == d.Withheld && c.RotateEvenly == d.RotateEvenly && c.Held == d.Held && c.Modifiers == d.Modifiers && c.HasNegatives == d.HasNegatives &&
		c.Targeted == d.Targeted && c.Most == d.Most && reflect.DeepEqual(c.Targeting, d.Targeting) &&
		c.Campaign.Negatives.Same(d.Campaign.Negatives)
}

// bounds reports whether MaxModifier and MaxFactor bound those of a campaign.
func (p *Parents) bounds(c *CampaignState) bool {
	if uint64(c.Most) > p.MaxFactor {
		return false
	}
	for d, m := range c.Modifiers {
		if m != block.NotSet && uint64(m) > p.MaxModifier[d] {
			return false
		}
	}
	return true
}

// touches reports whether the changed parent is one of the block's groups' parents.
func (c *parentChange) touches(v *block.View) bool {
	for g := range v.Groups() {
		if campaign, advertiser := v.GroupParents(g); campaign == c.campaign || advertiser == c.advertiser {
			return true
		}
	}
	return false
}

// AdvertiserNamed returns the id of the advertiser with a name, or 0 if there is none.
func (p *Parents) AdvertiserNamed(name string) (id uint64) {
	p.Advertisers.each(func(i uint64, a AdvertiserState) {
		if a.Name == name {
			id = i
		}
	})
	return id
}

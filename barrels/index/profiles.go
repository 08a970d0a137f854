package index

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/schema/pb"
	"adshard/targeting"
	"adshard/targeting/message"
)

// Profiles keeps equal targeting of campaigns once, and numbers its combinations with an advertiser's part, so that a search
// judges each only once. No number is used twice. Numbers that no campaign has any more are dropped when all campaigns are
// renumbered (Tighten). Parents of successive states share it, and it is safe for concurrent use.
type Profiles struct {
	mu        sync.Mutex
	campaigns map[string]*targeting.Campaign // by their targeting, encoded
	numbers   map[profileKey]uint32
	list      atomic.Pointer[[]targeting.Profile] // by number; appended to under mu
}

// profileKey identifies equal profiles.
type profileKey struct {
	campaign   *targeting.Campaign
	zone       *time.Location
	categories string
}

func newProfiles() *Profiles {
	p := &Profiles{campaigns: make(map[string]*targeting.Campaign), numbers: make(map[profileKey]uint32)}
	p.list.Store(new([]targeting.Profile))
	return p
}

// compile prepares a campaign's targeting for searches. It returns nil if the campaign has none.
func (p *Profiles) compile(r *pb.Campaign) *targeting.Campaign {
	if r.Targeting == nil && len(r.Languages) == 0 {
		return nil
	}
	key, err := proto.MarshalOptions{Deterministic: true}.Marshal(&pb.Campaign{Targeting: r.Targeting, Languages: r.Languages})
	if err != nil {
		return compiled(r) // equal targeting is then not shared
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.campaigns[string(key)]
	if !ok {
		c = compiled(r)
		p.campaigns[string(key)] = c
	}
	return c
}

func compiled(r *pb.Campaign) *targeting.Campaign {
	t := message.To(r.Targeting)
	t.Languages = r.Languages
	return targeting.Compile(t)
}

// number returns the number of the profile that a campaign has with its owner.
func (p *Profiles) number(c *targeting.Campaign, owner *targeting.Owner) uint32 {
	profile := targeting.NewProfile(c, owner)
	key := profileKey{c, profile.Owner.Zone, strings.Join(owner.Categories, "\n")}
	p.mu.Lock()
	defer p.mu.Unlock()
	n, ok := p.numbers[key]
	if !ok {
		list := append(*p.list.Load(), profile)
		n = uint32(len(list) - 1)
		p.numbers[key] = n
		p.list.Store(&list)
	}
	return n
}

// Of returns the profile with a number.
func (p *Profiles) Of(number uint32) *targeting.Profile { return &(*p.list.Load())[number] }

// len returns how many profiles were ever numbered.
func (p *Profiles) len() int { return len(*p.list.Load()) }

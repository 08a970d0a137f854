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

// Profiles keeps equal targeting of campaigns once, and numbers what it is with an advertiser's part, so that a search judges it
// once. No number is given twice. Numbers that no campaign has any more are forgotten when all are given anew
// (Tighten). It is shared by the parents of successive states, and safe for concurrent use.
type Profiles struct {
	mu        sync.Mutex
	campaigns map[string]*targeting.Campaign // by the bytes of what they say
	numbers   map[profileKey]uint32
	list      atomic.Pointer[[]targeting.Profile] // by number; grows under mu
}

// profileKey is a profile that can be compared.
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

// compile makes a campaign's targeting ready for searches; nil: it says nothing.
func (p *Profiles) compile(r *pb.Campaign) *targeting.Campaign {
	if r.Targeting == nil && len(r.Languages) == 0 {
		return nil
	}
	key, err := proto.MarshalOptions{Deterministic: true}.Marshal(&pb.Campaign{Targeting: r.Targeting, Languages: r.Languages})
	if err != nil {
		return compiled(r) // only equal ones are not found
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

// number returns the number of the profile of a campaign of an owner.
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

// len is how many were ever numbered.
func (p *Profiles) len() int { return len(*p.list.Load()) }

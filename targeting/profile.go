package targeting

// Profile decides how the context of a request affects keywords, apart from a group's own targeting, the advertiser's id and final
// URLs. It consists of what their campaign sets and what it takes from its advertiser. Many campaigns have the same profile.
type Profile struct {
	Campaign *Campaign // nil if the campaign has no targeting
	Owner    Owner     // without an id, and without a zone if no dates or schedule depend on it
}

// NewProfile returns the profile of a campaign with its owner.
func NewProfile(c *Campaign, owner *Owner) Profile {
	p := Profile{Campaign: c, Owner: Owner{Categories: owner.Categories}}
	if c != nil && (c.start|c.end != 0 || len(c.schedule) > 0) {
		p.Owner.Zone = owner.Zone
	}
	return p
}

// Standing is what a request means for the keywords of a profile, as searches need it.
type Standing struct {
	number, round uint32
	Verdict       Verdict
	Passes        bool
	Plain         bool   // whether bids stay as they are
	M             uint16 // M for a device's modifier that changes no bid
	Factors       Factors
}

// standings remember, for one request, the standings of profiles by their numbers. Each slot keeps the last one.
type standings struct {
	slots []Standing
	round uint32 // of the request
}

// standingSlots is the number of profiles that a search remembers. It seldom meets more.
const standingSlots = 1024

// reset begins a request.
func (s *standings) reset() {
	if s.round++; s.round == 0 { // rounds of old may come again
		clear(s.slots)
		s.round = 1
	}
}

// Profile returns the standing of the profile with a number, which must identify it during the request. The standing is valid
// until the next call. It does not consider blocks of domains or of advertisers by id.
func (j *Judge) Profile(number uint32, p func(uint32) *Profile) *Standing {
	if j.standings.slots == nil {
		j.standings.slots = make([]Standing, standingSlots)
	}
	s := &j.standings.slots[number%standingSlots]
	if s.number == number && s.round == j.standings.round {
		return s
	}
	*s = Standing{number: number, round: j.standings.round}
	of := p(number)
	var o Outcome
	if j.judge(&o, of.Campaign, &of.Owner, nil); o.Verdict == Pass && len(j.context.Blocks) > 0 {
		j.block(&o, of.Campaign, &of.Owner)
	}
	s.Verdict, s.Passes, s.Plain, s.Factors = o.Verdict, o.Verdict == Pass, o.Factors == neutral, o.Factors
	s.M = uint16(o.Factors.Apply(Default))
	return s
}

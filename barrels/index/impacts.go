package index

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"
)

// Impacts are the impacts of a block's postings on one device, given the statuses, budgets and
// modifiers of one state. They are valid until a parent of the block's groups changes or other
// slices are served. So a group's eligibility is looked up once instead of by each search.
//
// The struct is the head of one allocation, in which the summary of each class follows with the impacts of its
// members, then the profiles of the block's postings, which only campaigns with targeting and requests with blocks
// need: counting and ranking a class with few postings touches one cache line, whose place depends on nothing else.
type Impacts struct {
	ParentsVersion atomic.Uint64 // version of the parents for which they are known to be valid
	head           uint64        // Served.Number of what is served (56 bits), how many profiles there are (8)
	Reach          uint64        // of the block
}

// ProfileRef is a profile of a block's postings: its number (32 bits), whether it depends on the context of each request (1), and
// what it multiplies bids by at most in permille (24).
type ProfileRef uint64

// ProfileRef returns the reference to a campaign's profile.
func (c *CampaignState) ProfileRef() ProfileRef {
	r := ProfileRef(c.Profile)<<32 | ProfileRef(min(c.Most, maxFactor))
	if c.Targeted {
		r |= refTargeted
	}
	return r
}

const (
	refTargeted ProfileRef = 1 << 24
	maxFactor              = 1<<24 - 1 // above 10 to the power of 7, which four modifiers cannot exceed
)

// Number returns the profile's number.
func (r ProfileRef) Number() uint32 { return uint32(r >> 32) }

// Targeted reports whether it depends on more of a request's context than languages and blocks.
func (r ProfileRef) Targeted() bool { return r&refTargeted != 0 }

// Most is what it multiplies bids by at most, in permille.
func (r ProfileRef) Most() uint64 { return uint64(r & maxFactor) }

const (
	// MixedProfiles is the profile of a class whose members have several.
	MixedProfiles = 0xff
	// NoProfile is the profile of a posting whose group is unknown.
	NoProfile = 0xff
)

// Beaten reports whether an impact of a profile is below a score, whatever the context; one is Q for quality 1.
func (e Impact) Beaten(of ProfileRef, one, need uint64) bool {
	return Below(Reachable(e.Product(), of.Most()), one, need)
}

// Below reports whether a product of effective bid and quality, times Q for quality 1, is below a score. Four modifiers of the largest
// bids need more than 64 bits.
func Below(product, one, need uint64) bool {
	hi, lo := bits.Mul64(product, one)
	return hi == 0 && lo < need
}

// Reachable is what a product of effective bid and quality can become at most. The bid was rounded down before the factor, by less
// than 1 micro.
func Reachable(product, most uint64) uint64 {
	if most == 1000 {
		return product
	}
	return (product+MaxQuality)*most/1000 + 1
}

// ClassImpact summarises all postings of a class, so that the class is counted without
// reading its postings, and they are read only if one may be among the best. All of it is of requests whose context is passed and
// changes no bid.
type ClassImpact struct {
	// Least is the smallest effective bid of the candidates; Undecided, the largest
	// there is, if the class has none; SomeUndecided if some of its postings are
	// Undecided.
	Least      EffectiveBid
	Live       uint8 // those that are not dead
	Candidates uint8 // live postings that take part in every query
	Profile    uint8 // the one profile of the live postings, as an index into the block's; or MixedProfiles
	Targeted   bool  // some profile depends on the context of each request
}

// Impact is the impact of a member of a class in 64 bits: the product effective
// bid × quality (38), Modified (1), Dominated (1), OwnerNegatives (1), the quality (6), its profile (8) as an index into those of the
// block, and the posting's place in the block (8). One that is no candidate has the product 0 and its EffectiveBid as
// quality, Undecided as 2. Those of a class are sorted by descending product, then ascending
// keyword, as hits are ranked, the dominated ones behind the others.
type Impact uint64

const (
	qualityShift = 16
	profileShift = 8
	productShift = 26
	// Modified marks an impact of a bid that a device's modifier changes, so that a factor cannot be applied to it.
	Modified Impact = 1 << 25
	// Dominated marks an impact of an advertiser with a better one in the class.
	Dominated Impact = 1 << 24
	// OwnerNegatives marks the impact of a candidate whose advertiser has negatives. Queries check
	// these for the few that may be among the best.
	OwnerNegatives Impact = 1 << 22
	// MaxQuality is the largest quality that an impact can have.
	MaxQuality = 1<<6 - 1
)

// NewImpact returns the impact of a quality up to MaxQuality.
func NewImpact(w EffectiveBid, quality uint8, posting int) Impact {
	switch w {
	case NoMatch, NoCandidate:
		return Impact(w)<<qualityShift | Impact(posting)
	case Undecided:
		return 2<<qualityShift | Impact(posting)
	}
	return Impact(w-1)*Impact(quality)<<productShift | Impact(quality)<<qualityShift | Impact(posting)
}

// Product returns effective bid × quality; 0 for a posting that is no candidate.
func (e Impact) Product() uint64 { return uint64(e >> productShift) }

// Quality returns the quality, at most MaxQuality; of a posting that is no candidate
// it says why, as Bid does.
func (e Impact) Quality() uint64 { return uint64(e >> qualityShift & MaxQuality) }

// Posting returns the posting's place in its block.
func (e Impact) Posting() int { return int(e & (1<<profileShift - 1)) }

// Of returns the impact with a profile.
func (e Impact) Of(profile uint8) Impact { return e | Impact(profile)<<profileShift }

// Profile returns the index of its profile in those of the block.
func (e Impact) Profile() int { return int(e >> profileShift & 0xff) }

// Bid returns the effective bid.
func (e Impact) Bid() EffectiveBid {
	q := e.Quality()
	switch {
	case e.Product() > 0:
		return EffectiveBid(e.Product()/q) + 1
	case q == 2:
		return Undecided
	}
	return EffectiveBid(q)
}

// EffectiveBid is 0 for a posting that does not match whatever its words, 1 for one that
// matches and takes no part in the auction, else its effective bid in micros and
// 1 more.
type EffectiveBid uint32

const (
	// NoMatch: the posting matches no query.
	NoMatch EffectiveBid = 0
	// NoCandidate: it may match, and takes no part in the auction.
	NoCandidate EffectiveBid = 1
	// Undecided: the posting is decided on by itself, in each query.
	Undecided EffectiveBid = math.MaxUint32
	// SomeUndecided, as a class's Least, is below every reserve, so that its postings are taken one by one.
	SomeUndecided EffectiveBid = 0
)

// Sizes in words of 64 bits.
const (
	impactsSize     = int(unsafe.Sizeof(Impacts{}) / 8)
	classImpactSize = int(unsafe.Sizeof(ClassImpact{}) / 8)
)

// NewImpacts returns impacts with room for the classes and members of a block, whose postings have these profiles.
func NewImpacts(b *Block, profiles []ProfileRef) *Impacts {
	room := make([]uint64, impactsSize+classWords(b)+len(profiles))
	j := (*Impacts)(unsafe.Pointer(&room[0]))
	j.head = uint64(len(profiles))
	copy(j.Profiles(b), profiles)
	return j
}

// classWords is how many words the summaries and impacts of a block's classes take.
func classWords(b *Block) int { return classImpactSize*len(b.signatures) + int(b.Postings) }

// profilesBits is how many bits say how many profiles there are.
const profilesBits = 8

// Serves reports whether the impacts are of what is served; its number is that of Served.
func (j *Impacts) Serves(number uint64) bool { return j.head>>profilesBits == number }

// SetServed says of what the impacts are. It is called once, before others see them.
func (j *Impacts) SetServed(number uint64) { j.head |= number << profilesBits }

// Served is the number of what they are of.
func (j *Impacts) Served() uint64 { return j.head >> profilesBits }

// profiles is how many profiles there are.
func (j *Impacts) profiles() int { return int(j.head & (1<<profilesBits - 1)) }

// words is the size of what follows the head of a block's impacts.
func (j *Impacts) words(b *Block) int { return classWords(b) + j.profiles() }

// bytes is the size of a block's impacts.
func (j *Impacts) bytes(b *Block) int { return 8 * (impactsSize + j.words(b)) }

// Profiles returns the profiles of the postings of b, which must be the block of these impacts.
func (j *Impacts) Profiles(b *Block) []ProfileRef {
	n := j.profiles()
	if n == 0 { // nothing lies behind the classes, which a pointer may not leave
		return nil
	}
	return unsafe.Slice((*ProfileRef)(j.at(classWords(b))), n)
}

// Most is what the profiles of a class of b multiply bids by at most, in permille.
func (j *Impacts) Most(b *Block, class *ClassImpact) uint64 {
	all := j.Profiles(b)
	if class.Profile != MixedProfiles {
		return all[class.Profile].Most()
	}
	most := uint64(1000)
	for _, p := range all {
		most = max(most, p.Most())
	}
	return most
}

// Class returns the summary of a class of b, which must be the block of these
// impacts.
func (j *Impacts) Class(b *Block, class int) *ClassImpact {
	return (*ClassImpact)(j.at(classImpactSize*class + int(b.Classes()[class].first)))
}

// Max returns the largest effective bid × quality of a class of b: that of the
// impact that is ranked first.
func (j *Impacts) Max(b *Block, class int) uint64 {
	first := int(b.Classes()[class].first)
	return (*(*Impact)(j.at(classImpactSize*(class+1) + first))).Product()
}

// Ranked returns the impacts of a class of b, which must be their block, as hits are
// ranked.
func (j *Impacts) Ranked(b *Block, class int) []Impact {
	first, end := b.Range(class)
	return unsafe.Slice((*Impact)(j.at(classImpactSize*(class+1)+first)), end-first)
}

// Same reports whether two impacts of a block are equal; what they are valid for does not matter.
func (j *Impacts) Same(b *Block, k *Impacts) bool {
	n := j.words(b)
	return j.profiles() == k.profiles() && slices.Equal(unsafe.Slice((*uint64)(j.at(0)), n), unsafe.Slice((*uint64)(k.at(0)), n))
}

// at returns where the i-th word behind the head lies.
func (j *Impacts) at(i int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(j), 8*(impactsSize+i))
}

// MaxOwners is the largest number of distinct advertisers that a search asks for.
const MaxOwners = 21

// Rank sorts the impacts of a class and marks the dominated ones. Only those of the first MaxOwners
// advertisers need to be found.
func Rank(impacts []Impact, of *Block) {
	if len(impacts) < 2 {
		return
	}
	slices.SortFunc(impacts, func(x, y Impact) int {
		if c := cmp.Compare(y>>productShift, x>>productShift); c != 0 {
			return c
		}
		return cmp.Compare(of.View.Keyword(x.Posting()), of.View.Keyword(y.Posting()))
	})
	var room [MaxOwners]uint64
	owners, behind := room[:0], false
	for i, e := range impacts {
		switch owner := of.Advertiser(e.Posting()); {
		case slices.Contains(owners, owner):
			impacts[i] |= Dominated
			behind = true
		case len(owners) < MaxOwners:
			owners = append(owners, owner)
		}
	}
	if behind {
		slices.SortStableFunc(impacts, func(a, b Impact) int { return cmp.Compare(a&Dominated, b&Dominated) })
	}
}

// Begin begins the summary of a class, of which no posting is counted yet.
func (s *ClassImpact) Begin() { *s = ClassImpact{Least: Undecided} }

// Add counts a posting with its effective bid and its profile; asked: queries check its advertiser's negatives.
func (s *ClassImpact) Add(w EffectiveBid, asked bool, profile uint8, of ProfileRef) {
	switch {
	case w == NoMatch:
		return
	case w == Undecided:
		s.Least = SomeUndecided
		return
	case s.Live > 0 && s.Profile != profile:
		s.Profile = MixedProfiles
	default:
		s.Profile = profile
	}
	s.Live++
	s.Targeted = s.Targeted || of.Targeted()
	if w > NoCandidate {
		s.Least = min(s.Least, w)
		if !asked {
			s.Candidates++
		}
	}
}

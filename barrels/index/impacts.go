package index

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"
)

// Impacts are the impacts of a block's postings on one device, given the statuses, budgets and modifiers of one state. They are valid
// until a parent of the block's groups changes or other slices are served. With them, a group's eligibility need not be looked up by
// each search.
//
// The struct is the head of one allocation. It is followed by the summary of each class with the impacts of its members, then by the
// profiles of the block's postings, which only campaigns with targeting and requests with blocks need. Counting and ranking a class
// with few postings thus touches one cache line, whose place is easily computed.
type Impacts struct {
	ParentsVersion atomic.Uint64 // version of the parents for which the impacts are known to be valid
	head           uint64        // Served.Number of what is served (56 bits) and the number of profiles (8 bits)
	Reach          uint64        // reach of the block
}

// ProfileRef refers to a profile of a block's postings. It holds the profile's number (32 bits), whether the profile depends on the
// context of each request (1 bit), and the most by which it multiplies bids, in permille (24 bits).
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
	maxFactor              = 1<<24 - 1 // above 10⁷, which four modifiers cannot exceed
)

// Number returns the profile's number.
func (r ProfileRef) Number() uint32 { return uint32(r >> 32) }

// Targeted reports whether the profile depends on more of a request's context than languages and blocks.
func (r ProfileRef) Targeted() bool { return r&refTargeted != 0 }

// Most returns the most by which the profile multiplies bids, in permille.
func (r ProfileRef) Most() uint64 { return uint64(r & maxFactor) }

const (
	// MixedProfiles is the Profile of a class whose members have several profiles.
	MixedProfiles = 0xff
	// NoProfile is the profile of a posting whose group is unknown.
	NoProfile = 0xff
)

// Beaten reports whether an impact with a given profile is below a score, whatever the context. `one` is Q for quality 1.
func (e Impact) Beaten(of ProfileRef, one, need uint64) bool {
	return Below(Reachable(e.Product(), of.Most()), one, need)
}

// Below reports whether a product of effective bid and quality, times Q for quality 1, is below a score. With four modifiers the
// largest bids need more than 64 bits.
func Below(product, one, need uint64) bool {
	hi, lo := bits.Mul64(product, one)
	return hi == 0 && lo < need
}

// Reachable returns the most that a product of effective bid and quality can become if the bid is multiplied by at most `most`
// permille. The bid was rounded down by less than 1 micro before that.
func Reachable(product, most uint64) uint64 {
	if most == 1000 {
		return product
	}
	return (product+MaxQuality)*most/1000 + 1
}

// ClassImpact summarises all postings of a class, so that the class is counted without reading its postings, and they are read only if
// one may be among the best. It applies to requests whose context admits the postings and changes no bid.
type ClassImpact struct {
	// Least is the smallest effective bid of the candidates. If the class has none, it is Undecided, the largest bid. It is
	// SomeUndecided if some of its postings are Undecided.
	Least      EffectiveBid
	Live       uint8 // postings that are not dead
	Candidates uint8 // live postings that take part in every query
	Profile    uint8 // the one profile of the live postings, as an index into the block's profiles, or MixedProfiles
	Targeted   bool  // whether some profile depends on the context of each request
}

// Impact is the impact of a member of a class in 64 bits: the product of effective bid and quality (38 bits), Modified (1), Dominated
// (1), OwnerNegatives (1), the quality (6), its profile (8) as an index into the block's profiles, and the posting's place in the
// block (8). If the posting is not a candidate, the product is 0 and the quality is its EffectiveBid, with 2 for Undecided. The impacts
// of a class are sorted like hits, by descending product, then ascending keyword, with the dominated ones after the others.
type Impact uint64

const (
	qualityShift = 16
	profileShift = 8
	productShift = 26
	// Modified marks an impact whose bid a device's modifier changes, so that a factor cannot be applied to it.
	Modified Impact = 1 << 25
	// Dominated marks an impact whose advertiser has a better one in the class.
	Dominated Impact = 1 << 24
	// OwnerNegatives marks the impact of a candidate whose advertiser has negatives. Queries check the negatives of only the few
	// candidates that may be among the best.
	OwnerNegatives Impact = 1 << 22
	// MaxQuality is the largest quality that an impact can have.
	MaxQuality = 1<<6 - 1
)

// NewImpact returns the impact of a posting with an effective bid and a quality of at most MaxQuality.
func NewImpact(w EffectiveBid, quality uint8, posting int) Impact {
	switch w {
	case NoMatch, NoCandidate:
		return Impact(w)<<qualityShift | Impact(posting)
	case Undecided:
		return 2<<qualityShift | Impact(posting)
	}
	return Impact(w-1)*Impact(quality)<<productShift | Impact(quality)<<qualityShift | Impact(posting)
}

// Product returns effective bid × quality, or 0 for a posting that is not a candidate.
func (e Impact) Product() uint64 { return uint64(e >> productShift) }

// Quality returns the quality, at most MaxQuality. For a posting that is not a candidate it returns the reason instead, as Bid does.
func (e Impact) Quality() uint64 { return uint64(e >> qualityShift & MaxQuality) }

// Posting returns the posting's place in its block.
func (e Impact) Posting() int { return int(e & (1<<profileShift - 1)) }

// Of returns the impact with the given profile.
func (e Impact) Of(profile uint8) Impact { return e | Impact(profile)<<profileShift }

// Profile returns the index of its profile in the block's profiles.
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

// EffectiveBid is 0 for a posting that matches no query and 1 for one that may match but takes no part in the auction. Otherwise it is
// the effective bid in micros plus 1.
type EffectiveBid uint32

const (
	// NoMatch means that the posting matches no query.
	NoMatch EffectiveBid = 0
	// NoCandidate means that the posting may match but takes no part in the auction.
	NoCandidate EffectiveBid = 1
	// Undecided means that each query must decide on the posting.
	Undecided EffectiveBid = math.MaxUint32
	// SomeUndecided, as a class's Least, is below every reserve, so that its postings are looked at one by one.
	SomeUndecided EffectiveBid = 0
)

// Sizes in 64-bit words.
const (
	impactsSize     = int(unsafe.Sizeof(Impacts{}) / 8)
	classImpactSize = int(unsafe.Sizeof(ClassImpact{}) / 8)
)

// NewImpacts returns impacts with room for the classes and members of a block, whose postings have the given profiles.
func NewImpacts(b *Block, profiles []ProfileRef) *Impacts {
	room := make([]uint64, impactsSize+classWords(b)+len(profiles))
	j := (*Impacts)(unsafe.Pointer(&room[0]))
	j.head = uint64(len(profiles))
	copy(j.Profiles(b), profiles)
	return j
}

// classWords returns the number of words that the summaries and impacts of a block's classes take.
func classWords(b *Block) int { return classImpactSize*len(b.signatures) + int(b.Postings) }

// profilesBits is the number of bits that hold the number of profiles.
const profilesBits = 8

// Serves reports whether the impacts are those of what is served under a number (Served.Number).
func (j *Impacts) Serves(number uint64) bool { return j.head>>profilesBits == number }

// SetServed sets the number of what is served, for which the impacts were computed. It is called once, before others see the impacts.
func (j *Impacts) SetServed(number uint64) { j.head |= number << profilesBits }

// Served returns the number of what is served, for which the impacts were computed.
func (j *Impacts) Served() uint64 { return j.head >> profilesBits }

// profiles returns the number of profiles.
func (j *Impacts) profiles() int { return int(j.head & (1<<profilesBits - 1)) }

// words returns the number of words after the head of a block's impacts.
func (j *Impacts) words(b *Block) int { return classWords(b) + j.profiles() }

// bytes returns the size of a block's impacts.
func (j *Impacts) bytes(b *Block) int { return 8 * (impactsSize + j.words(b)) }

// Profiles returns the profiles of the postings of b, which must be the block of these impacts.
func (j *Impacts) Profiles(b *Block) []ProfileRef {
	n := j.profiles()
	if n == 0 { // nothing follows the classes, and a pointer must not go past the end
		return nil
	}
	return unsafe.Slice((*ProfileRef)(j.at(classWords(b))), n)
}

// Most returns the most by which the profiles of a class of b multiply bids, in permille.
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

// Max returns the largest effective bid × quality of a class of b: that of the impact ranked first.
func (j *Impacts) Max(b *Block, class int) uint64 {
	first := int(b.Classes()[class].first)
	return (*(*Impact)(j.at(classImpactSize*(class+1) + first))).Product()
}

// Ranked returns the impacts of a class of b in the order of hits. b must be the block of these impacts.
func (j *Impacts) Ranked(b *Block, class int) []Impact {
	first, end := b.Range(class)
	return unsafe.Slice((*Impact)(j.at(classImpactSize*(class+1)+first)), end-first)
}

// Same reports whether two impacts of a block are equal, whatever they are valid for.
func (j *Impacts) Same(b *Block, k *Impacts) bool {
	n := j.words(b)
	return j.profiles() == k.profiles() && slices.Equal(unsafe.Slice((*uint64)(j.at(0)), n), unsafe.Slice((*uint64)(k.at(0)), n))
}

// at returns the address of the i-th word after the head.
func (j *Impacts) at(i int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(j), 8*(impactsSize+i))
}

// MaxOwners is the largest number of distinct advertisers that a search wants.
const MaxOwners = 21

// Rank sorts the impacts of a class and marks the dominated ones. It need only find those of the first MaxOwners advertisers.
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

// Begin begins the summary of a class without any posting.
func (s *ClassImpact) Begin() { *s = ClassImpact{Least: Undecided} }

// Add counts a posting with its effective bid and its profile. `asked` means that queries must check the negatives of its advertiser.
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

package index

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"
)

// Impacts are the impacts of a block's postings on one device, given the statuses, budgets and
// modifiers of one state. They are valid until a parent of the block's groups changes or other
// slices are served. So a group's eligibility is looked up once instead of by each search.
//
// The struct is the head of one allocation, in which the summary of each class
// follows with the impacts of its members: counting and ranking a class with few
// postings touches one cache line.
type Impacts struct {
	ParentsVersion atomic.Uint64 // version of the parents for which they are known to be valid
	TableNumber    uint64        // number of the table of slices
	View           uint64        // served
}

// ClassImpact summarises all postings of a class, so that the class is counted without
// reading its postings, and they are read only if one may be among the best.
type ClassImpact struct {
	// Least is the smallest effective bid of the candidates; Undecided, the largest
	// there is, if the class has none; SomeUndecided if some of its postings are
	// Undecided.
	Least      EffectiveBid
	Live       uint16 // those that are not dead
	Candidates uint16 // those that take part in every query
}

// Impact is the impact of a member of a class in 64 bits: the product effective
// bid × quality (40), Dominated (1), OwnerNegatives (1), the quality (6), and the posting's
// place in the block (16). One that is no candidate has the product 0 and its EffectiveBid as
// quality, Undecided as 2. The bit above the place says that the posting is Targeted. Those of a class are sorted by descending product, then ascending
// keyword, as hits are ranked, the dominated ones behind the others.
type Impact uint64

const (
	productShift = 24
	// Dominated marks an impact of an advertiser with a better one in the class.
	Dominated Impact = 1 << 23
	// OwnerNegatives marks the impact of a candidate whose advertiser has negatives. Queries check
	// these for the few that may be among the best.
	OwnerNegatives Impact = 1 << 22
	// Targeted marks the impact of a posting whose part in the auction depends on a request's context; it is that of one that
	// passes and changes no bid.
	Targeted Impact = 1 << 15
	// MaxQuality is the largest quality that an impact can have.
	MaxQuality = 1<<6 - 1
)

// NewImpact returns the impact of a quality up to MaxQuality.
func NewImpact(w EffectiveBid, quality uint8, posting int) Impact {
	switch w {
	case NoMatch, NoCandidate:
		return Impact(w)<<16 | Impact(posting)
	case Undecided:
		return 2<<16 | Impact(posting)
	}
	return Impact(w-1)*Impact(quality)<<productShift | Impact(quality)<<16 | Impact(posting)
}

// Product returns effective bid × quality; 0 for a posting that is no candidate.
func (e Impact) Product() uint64 { return uint64(e >> productShift) }

// Quality returns the quality, at most MaxQuality; of a posting that is no candidate
// it says why, as Bid does.
func (e Impact) Quality() uint64 { return uint64(e >> 16 & MaxQuality) }

// Posting returns the posting's place in its block.
func (e Impact) Posting() int { return int(e & (Targeted - 1)) }

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
	// SomeUndecided and SomeTargeted, as a class's Least, are below every reserve, so that its
	// postings are taken one by one. The class's Max bounds all of them if none is undecided.
	SomeUndecided EffectiveBid = 0
	SomeTargeted  EffectiveBid = 1
)

// Sizes in words of 64 bits.
const (
	impactsSize     = int(unsafe.Sizeof(Impacts{}) / 8)
	classImpactSize = int(unsafe.Sizeof(ClassImpact{}) / 8)
)

// NewImpacts returns impacts with room for the classes and members of a block.
func NewImpacts(b *Block) *Impacts {
	room := make([]uint64, impactsSize+classImpactSize*len(b.signatures)+int(b.Postings))
	return (*Impacts)(unsafe.Pointer(&room[0]))
}

// bytes is the size of a block's impacts.
func (j *Impacts) bytes(b *Block) int {
	return 8 * (impactsSize + classImpactSize*len(b.signatures) + int(b.Postings))
}

// Class returns the summary of a class of b, the block that these impacts are of.
func (j *Impacts) Class(b *Block, class int) *ClassImpact {
	return (*ClassImpact)(j.at(classImpactSize*class + int(b.Classes()[class].first)))
}

// Max returns the largest effective bid × quality of a class of b: that of the
// impact that is ranked first.
func (j *Impacts) Max(b *Block, class int) uint64 {
	first := int(b.Classes()[class].first)
	return (*(*Impact)(j.at(classImpactSize*(class+1) + first))).Product()
}

// Ranked returns the impacts of a class of b, the block that these are of, as hits are
// ranked.
func (j *Impacts) Ranked(b *Block, class int) []Impact {
	first, end := b.Range(class)
	return unsafe.Slice((*Impact)(j.at(classImpactSize*(class+1)+first)), end-first)
}

// Same reports whether two impacts of a block are equal; what they are valid for does not matter.
func (j *Impacts) Same(b *Block, k *Impacts) bool {
	n := classImpactSize*len(b.signatures) + int(b.Postings)
	return slices.Equal(unsafe.Slice((*uint64)(j.at(0)), n), unsafe.Slice((*uint64)(k.at(0)), n))
}

// at returns where the i-th word behind the impacts lies.
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

// Add counts a posting with its effective bid; asked: queries check its advertiser's negatives; targeted: its campaign is.
func (s *ClassImpact) Add(w EffectiveBid, asked, targeted bool) {
	switch {
	case w == Undecided:
		s.Least = SomeUndecided
	case w >= NoCandidate && targeted:
		s.Least = min(s.Least, SomeTargeted)
	case w > NoCandidate:
		s.Least = min(s.Least, w)
		s.Live++
		if !asked {
			s.Candidates++
		}
	case w == NoCandidate:
		s.Live++
	}
}

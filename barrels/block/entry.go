package block

import "adshard/search"

// Target is the number of postings in a block that is written afresh, Max the
// number above which a block is split.
const (
	Target = 128
	Max    = 192
)

// NotSet is a Group's modifier that is not set: the campaign's holds.
const NotSet = 0xffff

// Flags of a Group.
const (
	GroupEnabled   = 1 << iota // the group's own status
	GroupHasAd                 // it has an enabled ad
	GroupNegatives             // it has enabled negatives of its own
)

// groupFactorShift is where the flags of a group with audiences or sites of its own have an upper bound of what these multiply
// bids by, in whole numbers from 1 up.
const groupFactorShift = 8

// FactorFlags are the flags of a group whose own audiences and sites multiply bids by at most so many permille.
func FactorFlags(permille uint64) uint16 {
	return uint16(min((permille+999)/1000, 0xff)) << groupFactorShift
}

// GroupFactor returns what the own audiences and sites of a group with these flags multiply bids by at most; 0: it has none.
func GroupFactor(flags uint16) uint64 { return uint64(flags >> groupFactorShift) }

// GroupLive are the flags of a group whose keywords can match.
const GroupLive = GroupEnabled | GroupHasAd

// Flags of an Entry.
const (
	Enabled = 1 << iota // the keyword's own status
	HasBid              // Bid is set
	Several             // the keyword has more forms than this one
	Later               // this form is not the first of the keyword's
)

// Group is what the entries of one ad group share.
type Group struct {
	Key, ID, Campaign, Advertiser uint64
	Modifiers                     [search.Devices]uint16 // permille, or NotSet
	Flags                         uint16
}

// Word is a word of a keyword in one form: the hashes of its normalised and
// folded form and its term.
type Word struct{ Norm, Fold, Term uint64 }

// Entry is one form of a keyword, to be written.
type Entry struct {
	Group   *Group
	Keyword uint64
	Bid     uint64 // micros; with HasBid
	Type    uint8  // search.MatchType
	Quality uint8  // 1 to 10
	Flags   uint8
	Words   []Word // in order, 1 to 10
}

// Fill returns how many of n postings belong in the next
func Fill(n int) int {
	if n > Max {
		return Target
	}
	return n
}

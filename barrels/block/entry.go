package block

import "adshard/search"

// Target is the number of postings in a newly written block. Max is the number above which a block is split.
const (
	Target = 128
	Max    = 192
)

// NotSet means that a Group sets no modifier, so the campaign's applies.
const NotSet = 0xffff

// Flags of a Group.
const (
	GroupEnabled   = 1 << iota // the group's own status
	GroupHasAd                 // it has an enabled ad
	GroupNegatives             // it has enabled negatives of its own
)

// groupFactorShift is the position in a group's flags of an upper bound, in whole numbers from 1, of the factor by which its
// own audiences and sites multiply bids. The bound is 0 if the group has none.
const groupFactorShift = 8

// FactorFlags returns the flags of a group whose own audiences and sites multiply bids by at most the given permille.
func FactorFlags(permille uint64) uint16 {
	return uint16(min((permille+999)/1000, 0xff)) << groupFactorShift
}

// GroupFactor returns the most by which the own audiences and sites of a group with these flags multiply bids, or 0 if it has
// none.
func GroupFactor(flags uint16) uint64 { return uint64(flags >> groupFactorShift) }

// GroupLive are the flags of a group whose keywords can match.
const GroupLive = GroupEnabled | GroupHasAd

// Flags of an Entry.
const (
	Enabled = 1 << iota // the keyword's own status
	HasBid              // Bid is set
	Several             // the keyword has other forms besides this one
	Later               // this form is not the first of the keyword's
)

// Group is what the entries of one ad group share.
type Group struct {
	Key, ID, Campaign, Advertiser uint64
	Modifiers                     [search.Devices]uint16 // permille, or NotSet
	Flags                         uint16
}

// Word is a word of a keyword in one form: the hashes of its normalised and its folded form, and its term.
type Word struct{ Norm, Fold, Term uint64 }

// Entry is one form of a keyword, as an encoder writes it to a block.
type Entry struct {
	Group   *Group
	Keyword uint64
	Bid     uint64 // micros; with HasBid
	Type    uint8  // search.MatchType
	Quality uint8  // 1 to 10
	Flags   uint8
	Words   []Word // in order, 1 to 10
}

// Fill returns how many of n postings belong in the next block.
func Fill(n int) int {
	if n > Max {
		return Target
	}
	return n
}

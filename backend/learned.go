package backend

import (
	"fmt"
	"math"
)

// Learned is a quality that was learned from clicks, together with the counts it was learned from, or 0 if none was
// learned. It is used instead of the given quality, which is stored as well. The same number is stored in databases
// and records:
//
//	bits 0 to 3   the quality, 1 to 10
//	bits 4 to 7   the lowest level with any counts: quality.Level
//	bits 8 to 31  the clicks of that level
//	bits 32 to 62 the impressions of that level
//
// Counts are decayed and rounded. A count that does not fit is stored as the largest number that fits.
type Learned uint64

// Bounds of the counts in a Learned.
const (
	maxLearnedClicks      = 1<<24 - 1
	maxLearnedImpressions = 1<<31 - 1
	maxLearnedLevel       = 15
	maxQuality            = 10
)

// NewLearned returns a quality, 1 to 10, that was learned from the counts of a level.
func NewLearned(quality, level uint8, impressions, clicks float64) Learned {
	return Learned(min(quality, maxQuality)) | Learned(min(level, maxLearnedLevel))<<4 |
		Learned(min(math.Round(clicks), maxLearnedClicks))<<8 | Learned(min(math.Round(impressions), maxLearnedImpressions))<<32
}

// Quality returns the quality, or 0 if none was learned.
func (l Learned) Quality() uint8 { return uint8(l & 15) }

// Level returns the lowest level with any counts.
func (l Learned) Level() uint8 { return uint8(l >> 4 & 15) }

// Impressions returns the impressions of the level.
func (l Learned) Impressions() uint32 { return uint32(l >> 32 & maxLearnedImpressions) }

// Clicks returns the clicks of the level.
func (l Learned) Clicks() uint32 { return uint32(l >> 8 & maxLearnedClicks) }

// Sound reports whether l is 0 or a value that NewLearned returns for a quality of at least 1.
func (l Learned) Sound() bool {
	return l == 0 || l>>63 == 0 && l.Quality() >= 1 && l.Quality() <= maxQuality
}

// Damage returns the fault of a keyword that was read, as damage of its group, or nil if the keyword is sound.
func (k *Keyword) Damage() *Damage {
	if k.Learned.Sound() {
		return nil
	}
	return &Damage{Kind: KindGroup, ID: k.GroupID, Problem: fmt.Sprintf("keyword %d has %d for a learned quality, which is none; another program has written it: set it to 0", k.ID, k.Learned)}
}

// Served returns the quality with which a keyword takes part in auctions: the learned quality, if there is one, or
// else the given one.
func (k *Keyword) Served() uint8 {
	if k.Learned != 0 {
		return k.Learned.Quality()
	}
	return k.Quality
}

package layouts

// Set is the set of keywords from which all layouts are built. In each layout, keyword i
// has the id ID(i).
type Set struct {
	// Words holds the distinct normalised words; Counts says how many keywords have each of
	// them.
	Words  []string
	Counts []uint32
	// Refs holds the keywords' words as indexes into Words, keyword after keyword, each word
	// once, in the order of the text. The words of keyword i begin at Starts[i] and end
	// before Starts[i+1].
	Refs   []uint32
	Starts []uint32
	// Bids (micros) and Qualities (1 to 10) are by keyword.
	Bids      []uint32
	Qualities []uint8
	// Groups are the ad groups, each a range of keywords.
	Groups []Group
}

// Group is an ad group. Its keywords begin at First and end where those of the next group
// begin.
type Group struct {
	First                    uint32
	ID, Campaign, Advertiser uint64
}

// Len returns the number of keywords.
func (s *Set) Len() int { return len(s.Bids) }

// ID returns the id of keyword i.
func (s *Set) ID(i int) uint64 { return uint64(i) + 1 }

// Of returns the words of keyword i as indexes into Words.
func (s *Set) Of(i int) []uint32 { return s.Refs[s.Starts[i]:s.Starts[i+1]] }

// MaxWords is the largest number of words of a keyword.
const MaxWords = 10

// microsPerCent converts cents to micros.
const microsPerCent = 10_000

// GroupEnd returns the index after the last keyword of group g.
func (s *Set) GroupEnd(g int) int {
	if g+1 < len(s.Groups) {
		return int(s.Groups[g+1].First)
	}
	return s.Len()
}

// Text appends the text of keyword i, its words separated by spaces, to b.
func (s *Set) Text(b []byte, i int) []byte {
	for j, w := range s.Of(i) {
		if j > 0 {
			b = append(b, ' ')
		}
		b = append(b, s.Words[w]...)
	}
	return b
}

// GroupsOf returns the index of the group of each keyword.
func (s *Set) GroupsOf() []uint32 {
	out := make([]uint32, s.Len())
	for g := range s.Groups {
		for i := int(s.Groups[g].First); i < s.GroupEnd(g); i++ {
			out[i] = uint32(g)
		}
	}
	return out
}

// Slots is the number of places for which Best is found. Best holds one more keyword,
// because the price of the last place depends on the next one.
const Slots = 4

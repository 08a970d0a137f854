package corpus

import (
	"math/bits"
	"strings"
)

// Quality of a keyword by how specific it is: 1 up to leastBits, 10 from mostBits on.
const (
	leastBits = 9
	mostBits  = 15
)

// quality is 1 to 10, higher the fewer titles have the words of a text: how often the titles can be
// halved until one has the word, over all words but stop words. A word of no title is as rare as one
// of a single title.
func (s *shape) quality(text string) int {
	specific := 0
	for _, token := range tokensOf(text) {
		if stopWord(token) {
			continue
		}
		titles := 1
		if id, ok := s.words.ids[strings.ToLower(token)]; ok {
			titles = int(s.words.count[id])
		}
		specific += bits.Len(uint(len(s.items) / titles))
	}
	return 1 + 9*(min(max(specific, leastBits), mostBits)-leastBits)/(mostBits-leastBits)
}

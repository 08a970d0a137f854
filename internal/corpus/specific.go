package corpus

import (
	"math/bits"
	"strings"
)

// A keyword with a specificity of leastBits or less has quality 1, one of mostBits or more quality 10.
const (
	leastBits = 9
	mostBits  = 15
)

// quality returns a quality from 1 to 10, which is higher the fewer titles have the words of a text. For each word
// except stop words it counts how often the number of titles can be halved until one is left that has the word, and
// adds these counts. A word in no title is as rare as a word in a single title.
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

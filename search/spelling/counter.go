package spelling

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"adshard/fault"
	"adshard/search/words"
)

// Counter counts the keywords that have a word. The zero value has counted none. Its memory grows
// with the number of distinct words, up to MaxWords.
type Counter struct {
	counts map[string]uint32
	seen   []string // words of the present keyword
	most   int      // 0: MaxWords
}

// Add counts a keyword, given as its words. A word that occurs twice in it counts once. Errors:
// fault.Unavailable if there are more than MaxWords different words.
func (c *Counter) Add(keyword []words.Word) error {
	if c.counts == nil {
		c.counts = make(map[string]uint32)
	}
	c.seen = c.seen[:0]
	for _, w := range keyword {
		if !InVocabulary(w.Fold) || slices.Contains(c.seen, w.Fold) {
			continue
		}
		c.seen = append(c.seen, w.Fold)
		n, known := c.counts[w.Fold]
		if most := cmp.Or(c.most, MaxWords); !known && len(c.counts) >= most {
			return fault.Newf(fault.Unavailable, "vocabulary", "keywords have more than %d different words", most)
		}
		key := w.Fold
		if !known {
			key = strings.Clone(key) // the word may be part of a whole text
		}
		c.counts[key] = n + 1
	}
	return nil
}

// Text returns the vocabulary of the keywords counted, in the form that Parse reads. It depends only
// on these keywords, not on their order.
func (c *Counter) Text() string {
	list := make([]string, 0, len(c.counts))
	size := len(header)
	for w := range c.counts {
		list = append(list, w)
		size += len(w) + len(" 123\n")
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(c.counts[b], c.counts[a]), cmp.Compare(a, b))
	})
	text := make([]byte, 0, size+len(words.Version()))
	text = append(text, Header()...)
	for _, w := range list {
		text = append(append(text, w...), ' ')
		text = append(strconv.AppendUint(text, uint64(c.counts[w]), 10), '\n')
	}
	return string(text)
}

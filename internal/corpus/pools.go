package corpus

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Log is a real query log: texts with relative frequencies. Share is the log's percentage in a mix of all logs.
type Log struct {
	Name    string
	Share   int
	Texts   []string
	Weights []float64
}

// Logs returns the real query logs that exist.
func (c *Corpus) Logs() ([]Log, error) {
	var out []Log
	for _, l := range queryLogs {
		w, err := c.readLog(l.file)
		if err != nil {
			return nil, err
		}
		if len(w.texts) == 0 {
			continue
		}
		log := Log{Name: l.file, Share: l.share, Texts: w.texts, Weights: make([]float64, len(w.sums))}
		before := uint64(0)
		for i, sum := range w.sums {
			log.Weights[i], before = float64(sum-before), sum
		}
		out = append(out, log)
	}
	return out, nil
}

// Derived returns up to n different queries that are derived from the titles in the corpus of these options, as by
// WriteQueries, or only from those of one advertiser if it is not "". Each stream gives different queries, and always
// the same ones.
func (c *Corpus) Derived(o Options, n int, advertiser string, stream int) []string {
	m := c.newQueryMaker(o)
	if advertiser != "" {
		m.items = slices.DeleteFunc(m.items, func(i int32) bool { return c.items[i].advertiser != advertiser })
	}
	var out []string
	if len(m.items) == 0 {
		return out
	}
	seen := make(map[string]bool, n)
	d := newDice()
	for i := 0; len(out) < n && i < 20*n; i++ {
		d.reset(o.Seed, -2-stream, i)
		if text := m.derive(d); text != "" && !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	return out
}

// LargestAdvertiser returns the advertiser with the most titles in the corpus of these options.
func (c *Corpus) LargestAdvertiser(o Options) string {
	count := make(map[string]int)
	largest := ""
	for _, i := range c.newQueryMaker(o).items {
		name := c.items[i].advertiser
		count[name]++
		if n := count[name]; n > count[largest] || n == count[largest] && name < largest {
			largest = name
		}
	}
	return largest
}

// CommonWords returns the n words that occur in most titles, most common first,
// without stop words and numbers.
func (c *Corpus) CommonWords(n int) []string {
	var ids []int32
	for id, token := range c.words.tokens {
		if plainWord(token) {
			ids = append(ids, int32(id))
		}
	}
	slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(c.words.count[b], c.words.count[a]) })
	var out []string
	for _, id := range ids[:min(n, len(ids))] {
		out = append(out, strings.ToLower(c.words.tokens[id]))
	}
	return out
}

// CommonPairs returns the n pairs of adjacent words that occur in most titles,
// most common first.
func (c *Corpus) CommonPairs(n int) []string {
	count := make(map[[2]int32]int)
	var pairs [][2]int32
	for i := range c.items {
		ids := c.items[i].words
		for j := 1; j < len(ids); j++ {
			p := [2]int32{ids[j-1], ids[j]}
			if !plainWord(c.words.tokens[p[0]]) || !plainWord(c.words.tokens[p[1]]) {
				continue
			}
			if count[p]++; count[p] == 1 {
				pairs = append(pairs, p)
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b [2]int32) int { return cmp.Compare(count[b], count[a]) })
	var out []string
	for _, p := range pairs[:min(n, len(pairs))] {
		out = append(out, strings.ToLower(c.words.tokens[p[0]]+" "+c.words.tokens[p[1]]))
	}
	return out
}

// plainWord reports whether a token is a word with more than two letters and no stop word.
func plainWord(token string) bool {
	return len(token) > 2 && !stopWord(token) &&
		strings.IndexFunc(token, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

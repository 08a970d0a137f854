package corpus

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// queryLog is a source of queries, one a line, each followed by a tab and a weight, or all with equal weights.
type queryLog struct {
	file  string
	share int // per cent of all queries
}

// queryLogs are the logs of real queries. The other queries, and the share of logs that do not exist, are derived
// from titles.
var queryLogs = []queryLog{
	{"queries/wands.txt", 15},                       // typed into a furniture shop
	{"queries/wikipedia_en_titles_2023_06.tsv", 10}, // weighted by views: a head and a long tail
	{"queries/nq_open_dev.txt", 5},                  // questions, mostly without an ad
	{"queries/nq_dpr_train_sample.txt", 5},          //
	{"queries/berlin_opendata_portal_de.tsv", 5},    // German, weighted by impressions
}

// weighted draws texts by weight.
type weighted struct {
	texts []string
	sums  []uint64 // running sums of the weights
}

func (w *weighted) draw(d dice) string {
	at := d.Uint64N(w.sums[len(w.sums)-1])
	i := sort.Search(len(w.sums), func(i int) bool { return w.sums[i] > at })
	return w.texts[i]
}

// readLog reads a query log. The log has no texts if the file does not exist.
func (c *Corpus) readLog(name string) (*weighted, error) {
	r, err := openAny(c.files, name)
	if err != nil || r == nil {
		return &weighted{}, err
	}
	defer func() { _ = r.Close() }() // only read
	w := &weighted{}
	sum := uint64(0)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		text, weight, _ := strings.Cut(lines.Text(), "\t")
		if text == "" {
			continue
		}
		n := uint64(1)
		if f, err := strconv.ParseFloat(weight, 64); err == nil && f > 0 {
			n = max(1, uint64(f*1e9))
		}
		sum += n
		w.texts, w.sums = append(w.texts, text), append(w.sums, sum)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("corpus: %s: %w", name, err)
	}
	return w, nil
}

// WriteQueries writes queries for the corpus of the same options to w, one per line, and returns their number. 40 %
// are real (queryLogs). The others are derived from titles in the corpus: two to four consecutive words in any case,
// sometimes with words that people add, without diacritics, or in another order.
func (c *Corpus) WriteQueries(w io.Writer, o Options) (int, error) {
	var logs []*weighted
	var shares []int
	for _, l := range queryLogs {
		log, err := c.readLog(l.file)
		if err != nil {
			return 0, err
		}
		if len(log.texts) > 0 {
			logs, shares = append(logs, log), append(shares, l.share)
		}
	}
	m := c.newQueryMaker(o)
	d := newDice()
	out := bufio.NewWriter(w)
	for i := range o.Queries {
		d.reset(o.Seed, -1, i)
		text := ""
		at := d.IntN(100)
		for j, share := range shares {
			if at < share {
				text = logs[j].draw(d)
				break
			}
			at -= share
		}
		for text == "" {
			text = m.make(d)
		}
		if _, err := fmt.Fprintln(out, text); err != nil {
			return i, err
		}
	}
	return o.Queries, out.Flush()
}

// queryMaker derives queries from titles.
type queryMaker struct {
	corpus *Corpus
	shape  shape
	seed   uint64
	items  []int32 // of the first round
	rounds int
}

func (c *Corpus) newQueryMaker(o Options) *queryMaker {
	m := &queryMaker{corpus: c, seed: o.Seed, shape: shape{items: c.items, words: c.words, dice: newDice(), demo: o.Demo}}
	m.rounds = 1 + int(o.Keywords/int64(o.perGroup()*len(c.items)))
	take := c.sample(o, &Summary{})
	for _, number := range c.order {
		if take(number, 0) {
			m.items = append(m.items, number)
		}
	}
	return m
}

// make makes a query, or "".
func (m *queryMaker) make(d dice) string {
	if m.shape.demo {
		return m.typed(d)
	}
	return m.derive(d)
}

// derive makes a query. It returns "" if the title has no good run of words.
func (m *queryMaker) derive(d dice) string {
	number, round := int(pick(d, m.items)), d.IntN(m.rounds)
	m.shape.dice.reset(m.seed, round, number)
	_, tokens := m.shape.title(number, round)
	text := ""
	for tries := 0; text == "" && tries < 3; tries++ {
		text = run(d, tokens)
	}
	if text == "" {
		return ""
	}
	if d.chance(100) {
		text = askedFor(d, &m.corpus.items[number], text)
	}
	if d.chance(100) {
		words := strings.Fields(text)
		slices.Reverse(words)
		text = strings.Join(words, " ")
	}
	if d.chance(700) {
		text = strings.ToLower(text)
	}
	if d.chance(150) {
		text = plain.Replace(text)
	}
	return text
}

// plain removes Czech diacritics, which many people leave out when they type.
var plain = strings.NewReplacer("á", "a", "č", "c", "ď", "d", "é", "e", "ě", "e", "í", "i", "ň", "n", "ó", "o",
	"ř", "r", "š", "s", "ť", "t", "ú", "u", "ů", "u", "ý", "y", "ž", "z")

package search_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"adshard/backend"
	"adshard/search"
	"adshard/search/words"
)

// blockOf makes a block like those of real keywords: 128 postings of 2 to 4
// words anchored at usb, 150 words in all, a few of which the query has.
func blockOf(language string) *block {
	b := &block{}
	texts := []string{"usb", "cable", "hub"}
	for i := range 147 {
		texts = append(texts, fmt.Sprintf("word%d", i))
	}
	for _, w := range texts {
		b.vocabulary = append(b.vocabulary, word{words.Hash(w), words.Hash(w), words.TermOf(language, w)})
	}
	for i := range 128 {
		p := posting{keyword: &backend.Keyword{ID: uint64(i + 1), Type: search.MatchType(i / 3 % 3)}}
		list := []int{0, 1 + i*7%149, 1 + i*13%149, 1 + i*29%149}
		if i%8 == 0 {
			list[1] = 1 // usb cable …
		}
		for _, w := range list[:2+i%3] {
			p.words = binary.LittleEndian.AppendUint16(p.words, uint16(w))
		}
		b.postings = append(b.postings, p)
	}
	return b
}

// counter is a sink that only counts.
type counter struct{ matches int }

func (*counter) Pass(search.Block, search.Level) bool { return false }
func (*counter) Sift(list []search.Candidate, _ search.Level) []search.Candidate {
	return list
}
func (c *counter) Match(list []search.Candidate) { c.matches += len(list) }

func benchQuery(tb testing.TB, text string) *search.Query {
	q, err := search.Expand(text, search.Synonym, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return q
}

// BenchmarkScanBlock is one block of 128 postings and 150 words.
func BenchmarkScanBlock(b *testing.B) {
	q := benchQuery(b, "cheap usb cable for phone")
	for name, p := range map[string]search.Profile{"default": search.DefaultProfile(), "sklik": search.SklikProfile()} {
		b.Run(name, func(b *testing.B) {
			store := &naive{blocks: map[uint64][]*block{words.TermOf("en", "usb"): {blockOf("en")}}}
			sink := &counter{}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := search.Scan(b.Context(), q, p, store, sink); err != nil {
					b.Fatal(err)
				}
			}
			if sink.matches == 0 {
				b.Fatal("nothing matched")
			}
		})
	}
}

// BenchmarkScanNothing is what a query costs that finds no block.
func BenchmarkScanNothing(b *testing.B) {
	q := benchQuery(b, "cheap usb cable for phone")
	store, sink := &naive{}, &counter{}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := search.Scan(b.Context(), q, search.DefaultProfile(), store, sink); err != nil {
			b.Fatal(err)
		}
	}
}

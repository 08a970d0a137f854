package search_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"adshard/internal/oracle/oracletest"
	"adshard/search"
	"adshard/search/words"
)

// TestExpansionsAreThoseOfExpand: the cache returns the same expansions as Expand, whatever it
// keeps, for any text and reach, in any order.
func TestExpansionsAreThoseOfExpand(t *testing.T) {
	lex := oracletest.Lexicon()
	rapid.Check(t, func(t *rapid.T) {
		e := search.NewExpansions(words.Default, lex, rapid.SampledFrom([]int{0, 2 << 10, 1 << 20}).Draw(t, "bytes"))
		texts := []string{"", "!", "\xff", "usb", "USB", "usb cable", "phone light", strings.Repeat("a ", 40), strings.Repeat("a", 1025)}
		for range 40 {
			text := rapid.SampledFrom(texts).Draw(t, "text")
			reach := search.Level(rapid.IntRange(0, search.Levels-1).Draw(t, "reach"))
			got, _, err := e.Expand(text, reach)
			want, wantErr := search.Expand(text, reach, lex)
			if !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("%q at %v: %+v, %v; want %+v, %v", text, reach, got, err, want, wantErr)
			}
		}
	})
}

// TestExpansionsFollowTheVocabulary: at Misspelt, what was expanded with another vocabulary, or with none, is expanded
// again, and what the vocabulary does not concern is kept.
func TestExpansionsFollowTheVocabulary(t *testing.T) {
	var now search.Vocabulary
	e := search.NewExpansions(words.Default, nil, 1<<20)
	e.Correct(func() search.Vocabulary { return now })
	expand := func(reach search.Level) (terms int, kept bool, version string) {
		q, kept, err := e.Expand("cabel", reach)
		if err != nil {
			t.Fatal(err)
		}
		return len(q.Terms), kept, q.Vocabulary
	}
	own, _, _ := expand(search.Synonym)
	for _, frequencies := range []map[string]int{nil, {"cable": 1}, {"cable": 2}, {"cable": 2, "cabel": 1}, {"cable": 1}, nil} {
		version, corrections := "", 0
		if now = nil; frequencies != nil {
			now = oracletest.Vocabulary(frequencies)
			version, corrections = now.Version(), 1-frequencies["cabel"]
		}
		for i := range 3 { // what was used again is replaced when it is wanted for the second time
			if n, kept, by := expand(search.Misspelt); (n > own) != (corrections > 0) || by != version || i == 0 && kept || i == 2 && !kept {
				t.Errorf("%d terms, kept %v, of vocabulary %q", n, kept, by)
			}
		}
		if n, kept, by := expand(search.Synonym); n != own || !kept || by != "" {
			t.Errorf("as a synonym: %d terms, kept %v, of vocabulary %q", n, kept, by)
		}
		w := e.Explain("cabel usb", version)
		if got := w[0].Corrections; len(got) != corrections || len(got) > 0 && got[0] != "cable" || w[1].Corrections != nil {
			t.Errorf("explained as %q", got)
		}
		if w := e.Explain("cabel usb", "another"); w[0].Corrections != nil {
			t.Error("explained by another vocabulary than the query's")
		}
	}
}

func TestExpansionsAreKept(t *testing.T) {
	e := search.NewExpansions(words.Default, nil, 1<<20)
	request := "q=usb+cable&and=" + strings.Repeat("x", 1000)
	first, kept, err := e.Expand(request[2:5], search.Folded)
	if err != nil || kept {
		t.Fatal(kept, err)
	}
	again, kept, _ := e.Expand("usb", search.Folded)
	if !kept || again != first {
		t.Fatal("expanded again")
	}
	if at := uintptr(unsafe.Pointer(unsafe.StringData(again.Text))) - uintptr(unsafe.Pointer(unsafe.StringData(request))); at < uintptr(len(request)) {
		t.Error("a whole request is kept with its query")
	}
	if other, kept, _ := e.Expand("usb", search.Synonym); kept || other == first {
		t.Error("the reach does not count")
	}
}

// TestExpansionsStayWithinTheirBytes: the cache stays within its size, however long queries are and
// however many goroutines use it at once.
func TestExpansionsStayWithinTheirBytes(t *testing.T) {
	const most = 64 << 10
	e := search.NewExpansions(words.Default, nil, most)
	var asking sync.WaitGroup
	for g := range 4 {
		asking.Go(func() {
			for i := range 2000 {
				text := strings.Repeat(fmt.Sprint("w", g, "x", i, " "), 1+i%12)
				if _, _, err := e.Expand(text, search.Synonym); err != nil {
					t.Error(err)
				}
			}
		})
	}
	asking.Wait()
	counted, held := search.ExpansionBytes(e)
	if counted != held || held > most || held < most/4 {
		t.Errorf("%d bytes are kept, counted are %d, allowed %d", held, counted, most)
	}
}

// TestAFloodOfQueriesDoesNotDisplaceThoseThatAreAsked: users repeat the same hundred queries, and
// between any two of them come ten that occur only once.
func TestAFloodOfQueriesDoesNotDisplaceThoseThatAreAsked(t *testing.T) {
	e := search.NewExpansions(words.Default, nil, 1<<20)
	const rounds, queries, flood = 30, 100, 10
	asked, kept, one := 0, 0, 0
	for r := range rounds {
		for i := range queries {
			_, there, err := e.Expand(fmt.Sprint("popular query ", i), search.Synonym)
			if err != nil {
				t.Fatal(err)
			}
			if r > 2 {
				asked++
				if there {
					kept++
				}
			}
			for range flood {
				one++
				if _, _, err := e.Expand(fmt.Sprint("asked once ", one), search.Synonym); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if share := float64(kept) / float64(asked); share < 0.6 {
		t.Errorf("%.2f of the popular queries were there", share)
	}
}

func BenchmarkExpansions(b *testing.B) {
	e := search.NewExpansions(words.Default, nil, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := e.Expand("usb cable black", search.Synonym); err != nil {
			b.Fatal(err)
		}
	}
}

package layouts

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/internal/corpus"
	"adshard/search/words"
)

func extract(t testing.TB) *corpus.Corpus {
	t.Helper()
	c, err := corpus.Open(corpus.Extract())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func setOf(t testing.TB, n int64) *Set {
	t.Helper()
	s, err := FromCorpus(context.Background(), extract(t), corpus.Options{Keywords: n, Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// check checks that a set is as the comments of Set say.
func check(t testing.TB, s *Set) {
	t.Helper()
	counts := make([]uint32, len(s.Words))
	if len(s.Starts) != s.Len()+1 || len(s.Qualities) != s.Len() || s.Starts[0] != 0 || int(s.Starts[s.Len()]) != len(s.Refs) {
		t.Fatalf("%d keywords, %d starts, %d qualities", s.Len(), len(s.Starts), len(s.Qualities))
	}
	for i := range s.Len() {
		of := slices.Clone(s.Of(i))
		for _, w := range of {
			counts[w]++
		}
		slices.Sort(of)
		if len(of) == 0 || len(of) > MaxWords || len(slices.Compact(of)) != len(s.Of(i)) {
			t.Fatalf("keyword %d has the words %v", i, s.Of(i))
		}
		if s.Bids[i] == 0 || s.Qualities[i] < 1 || s.Qualities[i] > 10 {
			t.Fatalf("keyword %d has bid %d, quality %d", i, s.Bids[i], s.Qualities[i])
		}
	}
	if !slices.Equal(counts, s.Counts) {
		t.Error("the counts are others than those of the words")
	}
	for g := range s.Groups {
		if s.Groups[g].ID != uint64(g)+1 || int(s.Groups[g].First) >= s.GroupEnd(g) || g == 0 && s.Groups[g].First != 0 {
			t.Fatalf("group %d is %+v and ends at %d", g, s.Groups[g], s.GroupEnd(g))
		}
	}
}

func TestFromCorpus(t *testing.T) {
	s := setOf(t, 20_000)
	check(t, s)
	if s.Len() != 20_000 {
		t.Errorf("%d keywords", s.Len())
	}
	owner := map[uint64]uint64{}
	i := 0
	for g, err := range extract(t).Groups(context.Background(), corpus.Options{Keywords: 20_000, Seed: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range g.Keywords {
			list, _ := words.Split(k.Text)
			var want []string
			for _, w := range list {
				if !slices.Contains(want, w.Normalised) {
					want = append(want, w.Normalised)
				}
			}
			if got := string(s.Text(nil, i)); got != strings.Join(want, " ") {
				t.Fatalf("keyword %d, %q, has the words %q", i, k.Text, got)
			}
			i++
		}
	}
	of := s.GroupsOf()
	for i := range s.Len() {
		g := &s.Groups[of[i]]
		if a, known := owner[g.Campaign]; known && a != g.Advertiser {
			t.Fatalf("campaign %d is of advertisers %d and %d", g.Campaign, a, g.Advertiser)
		}
		owner[g.Campaign] = g.Advertiser
	}
	if again := setOf(t, 20_000); !reflect.DeepEqual(s, again) {
		t.Error("the same options gave another set")
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "set")
	if _, err := Load(path); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a missing file: %v", err)
	}
	s := setOf(t, 3000)
	if err := s.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil || !reflect.DeepEqual(s, got) {
		t.Fatalf("read back otherwise: %v", err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		b := slices.Clone(raw)
		if at := rapid.IntRange(0, len(b)-1).Draw(t, "at"); rapid.Bool().Draw(t, "cut") {
			b = b[:at]
		} else {
			b[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "with"))
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); fault.KindOf(err) != fault.Corrupt {
			t.Fatalf("a damaged file: %v", err)
		}
	})
}

func TestBadSets(t *testing.T) {
	s := setOf(t, 3000)
	shared := SharedWord(s, "the")
	check(t, shared)
	if c := shared.Counts[shared.Commonest(1)[0]]; shared.Len() != 3000 || c != 3000 {
		t.Errorf("%d of %d keywords share a word", c, shared.Len())
	}
	common := OnlyCommon(s, 10, 1)
	check(t, common)
	if common.Len() != 3000 || len(common.Words) > 10 || len(common.Groups) != len(s.Groups) {
		t.Errorf("%d keywords of %d words", common.Len(), len(common.Words))
	}
	one := OneAdvertiser(s)
	check(t, one)
	for _, g := range one.Groups {
		if g.Advertiser != 1 {
			t.Fatal("there is another advertiser")
		}
	}
	if reflect.DeepEqual(one.Groups, s.Groups) {
		t.Error("the set itself was changed")
	}
}

func TestBuilderLeavesOutEmpty(t *testing.T) {
	b := NewBuilder()
	b.Group(1, 1)
	b.Keyword(1, 1)
	b.Group(2, 2)
	for _, w := range []string{"a", "b", "a"} {
		b.Word(w)
	}
	b.Keyword(5, 3)
	b.Group(3, 3)
	s := b.Set()
	check(t, s)
	if s.Len() != 1 || len(s.Groups) != 1 || s.Groups[0].Campaign != 2 || len(s.Of(0)) != 2 {
		t.Errorf("%+v", s)
	}
}

func TestNewQuery(t *testing.T) {
	q, err := NewQuery("USB-C usb Kabel, c")
	if err != nil || !slices.Equal(q.Words, []string{"usb", "c", "kabel"}) || len(q.Expanded.Words) != 5 {
		t.Errorf("%+v, %v", q, err)
	}
	if _, err := NewQuery(strings.Repeat("long ", 1000)); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a long query: %v", err)
	}
	if got := NewQueries([]string{"?!", strings.Repeat("long ", 1000), "x"}); len(got) != 1 {
		t.Errorf("%d queries", len(got))
	}
}

// BenchmarkFromCorpus measures the time per keyword.
func BenchmarkFromCorpus(b *testing.B) {
	c := extract(b)
	b.ReportAllocs()
	if _, err := FromCorpus(context.Background(), c, corpus.Options{Keywords: int64(b.N), Seed: 1}, nil); err != nil {
		b.Fatal(err)
	}
}

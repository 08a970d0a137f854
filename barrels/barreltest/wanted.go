package barreltest

import (
	"cmp"
	"context"
	"slices"

	"adshard/internal/oracle"
	"adshard/search"
	"adshard/search/words"
)

// SameWanted fails if keywords requested by name are not explained as the oracle judges them. It
// requests one matching keyword in `every`, and all keywords of its advertiser by id and by name.
func SameWanted(t TB, s search.Explainer, o *oracle.Oracle, r oracle.Request, lex *words.Lexicon, every int) {
	t.Helper()
	matching, err := o.Explain(r)
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	others, err := o.Unmatched(r)
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	want := slices.SortedFunc(slices.Values(append(matching, others...)), func(a, b *oracle.Judged) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Keyword.ID, b.Keyword.ID))
	})
	q := Request(t, r, lex)
	advertisers := make(map[uint64][]*oracle.Judged)
	for _, j := range want {
		a := j.Advertiser.ID
		advertisers[a] = append(advertisers[a], j)
	}
	for i := 0; i < len(want); i += every {
		a := want[i].Advertiser
		sameWanted(t, s, q, search.Wanted{Keyword: want[i].Keyword.ID}, want[i:i+1])
		sameWanted(t, s, q, search.Wanted{Advertiser: a.ID}, advertisers[a.ID])
		sameWanted(t, s, q, search.Wanted{AdvertiserName: a.Name}, advertisers[a.ID])
	}
	for _, nobody := range []search.Wanted{{Keyword: 1 << 40}, {Advertiser: 1 << 40}, {AdvertiserName: "nobody of this name"}} {
		sameWanted(t, s, q, nobody, nil)
	}
}

func sameWanted(t TB, s search.Explainer, q *search.Request, named search.Wanted, want []*oracle.Judged) {
	t.Helper()
	own := *q
	own.Wanted = named
	e, err := s.Explain(context.Background(), &own, len(want)+1)
	if err != nil {
		t.Fatalf("%+v: %v", named, err)
	}
	if e.Total != uint64(len(want)) || len(e.Matches) != len(want) || e.Width != search.WholeRing() {
		t.Fatalf("%q, %+v: %d of %d keywords, want %d; width %v", q.Query.Text, named, len(e.Matches), e.Total, len(want), e.Width)
	}
	for i, j := range want {
		got := &e.Matches[i]
		if got, want := explained(got), judged(j); got != want {
			t.Fatalf("%q, %+v, keyword %d:\n got %s\nwant %s", q.Query.Text, named, i, got, want)
		}
		if got.Mismatch != j.Mismatch {
			t.Fatalf("%q, %q: mismatch %q, want %q", q.Query.Text, got.KeywordText, got.Mismatch, j.Mismatch)
		}
		if j.Level != search.NoLevel {
			checkAgreements(t, got)
			continue
		}
		checkMismatch(t, got)
	}
}

// checkMismatch checks that the explanation has the words that do not match.
func checkMismatch(t TB, e *search.Explained) {
	t.Helper()
	missing := 0
	for _, a := range e.Words {
		if (a.Query == "") != (a.Level == search.NoLevel) {
			t.Fatalf("%q: %+v", e.KeywordText, e.Words)
		}
		if a.Query == "" {
			if missing++; !slices.Contains(e.MismatchWords, a.Keyword) {
				t.Fatalf("%q: %q is missing, and not in %q", e.KeywordText, a.Keyword, e.MismatchWords)
			}
		}
	}
	named := len(e.MismatchWords) > 0
	if (e.Mismatch == search.WordsMissing) != (missing > 0) || named != (e.Mismatch != search.Arrangement) {
		t.Fatalf("%q: %q with %q, %d missing", e.KeywordText, e.Mismatch, e.MismatchWords, missing)
	}
}

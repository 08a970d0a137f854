package backendtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/fault"
	"adshard/search"
	"adshard/search/words"
)

// WordsPlace is a place whose database can be set back to an earlier version of words.
type WordsPlace struct {
	Place
	// Script runs SQL as another program would.
	Script func(sql string) error
	// Name returns the statement that makes the database name a version.
	Name func(version string) string
	// OldWriter is the statement with which a program that knows no versions begins to write.
	OldWriter string
	// Reopen opens the database; step is called after each durable step.
	Reopen func(ctx context.Context, step func()) (backend.Worded, error)
}

const beforeVersions = "rules 1; noted by no program"

// phrases are texts of a group or campaign of the test: the key that an earlier version of words gave, the text, and
// the present key, or "" if the phrase is removed.
var phrases = []struct{ was, text, now string }{
	{"men s shoes", "men's shoes", "men's shoes"},
	{"head phones", "head\u00adphones", "headphones"},
	{"headphones", "headphones", ""},                                    // the phrase above now has this key
	{"x y", "x y", "x y"},                                               // unchanged
	{"ring", "circle", "circle"},                                        // each now has the old key of another
	{"circle", "triangle", "triangle"},                                  //
	{"triangle", "ring", "ring"},                                        //
	{"\u3164", "\u3164", ""},                                            // no longer a word
	{"a b c d e f g h i oʼneill", "a b c d e f g h i o\u02bcneill", ""}, // eleven words
	{"men s coats", "men\u2019s coats", "men's coats"},
	{"menʼs coats", "men\u02bcs coats", ""}, // equal to the phrase above
	{"iphone15手机壳", "iPhone15手机壳", "iphone15 手机壳"},
	{tooLong, tooLong, ""}, // 41 units
}

// tooLong was a keyword before runs had units.
const tooLong = "手手手手手手手手手手手手手手手手手手手手手手手手手手手手手手手手手手手手手手手手手"

// manyGroups is more groups than are changed in one transaction.
const manyGroups = 300

// Words checks that the keys of keywords and negatives are rebuilt when the version of words changes, whatever
// happens meanwhile.
func Words(t *testing.T, place func(testing.TB) WordsPlace) {
	t.Run("keys are made anew", func(t *testing.T) { testRekeyed(t, place(t)) })
	t.Run("killed after each step", func(t *testing.T) { testRekeyKilled(t, place) })
	t.Run("several at once", func(t *testing.T) { testRekeyedTogether(t, place(t)) })
	t.Run("writers of other words", func(t *testing.T) { testOtherWriters(t, place(t)) })
	t.Run("newer words", func(t *testing.T) { testNewerWords(t, place(t)) })
}

// fillOld fills a database as a program with earlier words would. It returns a replica that has followed its feed.
func fillOld(t testing.TB, p WordsPlace) *replica {
	t.Helper()
	s := p.Open(t, Patience)
	writes(t, s, func(w writer) {
		campaign, first := w.path("first")
		for i, f := range phrases {
			w.keyword(first, backend.KeywordPatch{Text: f.text, Words: f.was, Type: search.Broad, Bid: backend.To(uint64(100 + i))})
			for _, o := range []backend.NegativeOwner{{Group: first}, {Campaign: campaign}, {Advertiser: 1}} {
				// The negatives that are kept are paused, the others are enabled.
				status := backend.Pause
				if f.now == "" {
					status = backend.Keep
				}
				w.must(w.Negative(w.ctx, o, backend.NegativePatch{Text: f.text, Words: f.was, Type: search.Phrase, Status: status}))
			}
		}
		w.keyword(first, backend.KeywordPatch{Text: "headphones", Words: "headphones", Type: search.Exact}) // another match type, so no conflict
		for i := range manyGroups {
			_, g := w.path(fmt.Sprint("g", i))
			w.keyword(g, backend.KeywordPatch{Text: "boys' men's", Words: "boys men s", Type: search.Exact})
		}
	})
	follower := newReplica(t, s)
	closing(t, s)
	check(t, p.Script(p.Name(beforeVersions)))
	return follower
}

// reopened opens a database whose keys have to be rebuilt.
func reopened(t testing.TB, p WordsPlace) backend.Worded {
	t.Helper()
	s, err := p.Reopen(t.Context(), func() {})
	check(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// wordsState returns the content of a database after its keys were rebuilt, as text.
func wordsState(t testing.TB, s backend.Worded) string {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context())
	check(t, err)
	defer snapshot.Close()
	var b strings.Builder
	negatives := func(list []backend.Negative) {
		for _, n := range list {
			fmt.Fprintf(&b, "  -%d %v %q %q %v\n", n.ID, n.Type, n.Words, n.Text, n.Enabled)
		}
	}
	for it, err := range snapshot.All(t.Context()) {
		check(t, err)
		fmt.Fprintf(&b, "%s\n", it.Group.Name)
		for _, k := range it.Keywords {
			fmt.Fprintf(&b, "  %d %v %q %q %d\n", k.ID, k.Type, k.Words, k.Text, k.Bid)
		}
		negatives(it.Negatives)
	}
	campaigns, err := snapshot.Campaigns(t.Context(), nil)
	check(t, err)
	for _, c := range campaigns {
		fmt.Fprintf(&b, "%s\n", c.Name)
		negatives(c.Negatives)
	}
	advertisers, err := snapshot.Advertisers(t.Context(), nil)
	check(t, err)
	for _, a := range advertisers {
		fmt.Fprintf(&b, "%s\n", a.Name)
		negatives(a.Negatives)
	}
	report, err := s.Words(t.Context())
	check(t, err)
	fmt.Fprintf(&b, "%+v\n", report)
	return b.String()
}

// testRekeyed checks the rows one by one.
func testRekeyed(t *testing.T, p WordsPlace) {
	follower := fillOld(t, p)
	s := reopened(t, p)
	snapshot, err := s.Snapshot(t.Context())
	check(t, err)
	defer snapshot.Close()
	items, err := snapshot.Items(t.Context(), []uint64{1})
	check(t, err)
	campaigns, err := snapshot.Campaigns(t.Context(), []uint64{1})
	check(t, err)
	advertisers, err := snapshot.Advertisers(t.Context(), []uint64{1})
	check(t, err)
	var keywords, negatives, own, all []string
	for _, k := range items[0].Keywords {
		keywords = append(keywords, fmt.Sprint(k.Words, "/", k.Text, "/", k.Bid))
	}
	for _, n := range items[0].Negatives {
		negatives = append(negatives, fmt.Sprint(n.Words, "/", n.Text, "/", n.Enabled))
	}
	for _, n := range campaigns[0].Negatives {
		own = append(own, fmt.Sprint(n.Words, "/", n.Text, "/", n.Enabled))
	}
	for _, n := range advertisers[0].Negatives {
		all = append(all, fmt.Sprint(n.Words, "/", n.Text, "/", n.Enabled))
	}
	var want, blocked []string
	removed := 0
	for i, f := range phrases {
		if f.now == "" {
			removed++
			continue
		}
		want = append(want, fmt.Sprint(f.now, "/", f.text, "/", 100+i))
		// A negative that was merged with an enabled one is now enabled.
		blocked = append(blocked, fmt.Sprint(f.now, "/", f.text, "/", f.now == "headphones" || f.now == "men's coats"))
	}
	want = append(want, "headphones/headphones/0")
	if !slices.Equal(keywords, want) {
		t.Errorf("keywords %q, want %q", keywords, want)
	}
	if !slices.Equal(negatives, blocked) || !slices.Equal(own, blocked) || !slices.Equal(all, blocked) {
		t.Errorf("negatives %q, %q and %q, want %q", negatives, own, all, blocked)
	}
	checkRemoved(t, s, removed)
	sound(t, s)
	follower.follow(t, s, 100)
	if d := Differ(follower.state, ReadNow(t, s)); d != "" {
		t.Errorf("the feed does not list everything that exists:\n%s", d)
	}
	// Importing the same texts again changes nothing.
	clock := clockOf(t, s)
	writes(t, s, func(w writer) {
		_, g := w.path("first")
		w.keyword(g, backend.KeywordPatch{Text: "men's shoes", Words: "men's shoes", Type: search.Broad})
	})
	if clockOf(t, s) != clock {
		t.Error("a keyword was not found under its new key")
	}
}

// checkRemoved checks the list of removed phrases.
func checkRemoved(t testing.TB, s backend.Worded, each int) {
	t.Helper()
	report, err := s.Words(t.Context())
	check(t, err)
	if report.Version != words.Version() || len(report.Removed) != 4*each || s.Rekeyed() != 4*each {
		t.Fatalf("%+v, %d removed; want %d", report, s.Rekeyed(), 3*each)
	}
	var got []string
	for _, r := range report.Removed {
		if r.Group == 1 && !r.Negative {
			got = append(got, fmt.Sprint(r.ID, " ", r.Text, " ", r.Type, " ", r.Enabled, " ", r.HasBid, " ", r.Bid, " ", r.Quality, " ", r.Kept, " ", r.Why != ""))
		}
		if min(r.Group, 1)+min(r.Campaign, 1)+min(r.Advertiser, 1) != 1 || r.Group == 0 && !r.Negative {
			t.Errorf("%+v has no owner", r)
		}
	}
	want := []string{"3 headphones broad true true 102 5 2 false", "8 \u3164 broad true true 107 5 0 true",
		"9 a b c d e f g h i o\u02bcneill broad true true 108 5 0 true", "11 men\u02bcs coats broad true true 110 5 10 false",
		"13 " + tooLong + " broad true true 112 5 0 true"}
	if !slices.Equal(got, want) {
		t.Errorf("removed %q, want %q", got, want)
	}
}

// testRekeyKilled stops the rebuilding after each of its steps. The next program continues it, and the result is the
// same.
func testRekeyKilled(t *testing.T, place func(testing.TB) WordsPlace) {
	p := place(t)
	fillOld(t, p)
	steps := 0
	s, err := p.Reopen(t.Context(), func() { steps++ })
	check(t, err)
	want := wordsState(t, s)
	closing(t, s)
	if steps < 4 { // claimed, at least two transactions, noted
		t.Fatalf("%d steps", steps)
	}
	for n := range steps {
		p := place(t)
		fillOld(t, p)
		ctx, kill := context.WithCancel(t.Context())
		left := n
		killed, err := p.Reopen(ctx, func() {
			if left--; left < 0 {
				kill()
			}
		})
		kill()
		if err == nil {
			closing(t, killed)
		}
		if n < steps-1 {
			if err == nil {
				t.Errorf("after %d steps it was opened", n+1)
			}
			if err := oldWrite(p); err == nil {
				t.Errorf("after %d steps an older program writes", n+1)
			}
		}
		again := reopened(t, p)
		if got := wordsState(t, again); got != want {
			t.Errorf("killed after %d steps:\n%s\nwant\n%s", n+1, got, want)
		}
		closing(t, again)
	}
}

func oldWrite(p WordsPlace) error { return p.Script(p.OldWriter) }

// testRekeyedTogether opens the database from several programs at once.
func testRekeyedTogether(t *testing.T, p WordsPlace) {
	fillOld(t, p)
	const programs = 4
	errs := make(chan error, programs)
	for range programs {
		go func() {
			s, err := p.Reopen(t.Context(), func() {})
			if err == nil {
				err = s.Close()
			}
			errs <- err
		}()
	}
	for range programs {
		if err := <-errs; err != nil && !fault.Is(err, fault.Locked) {
			t.Error(err)
		}
	}
	s := reopened(t, p)
	report, err := s.Words(t.Context())
	check(t, err)
	if report.Version != words.Version() || len(report.Removed) != 5*4 {
		t.Errorf("%+v", report)
	}
}

// testOtherWriters checks that programs of another version and programs that know no version cannot write, whether
// they were started before or after.
func testOtherWriters(t *testing.T, p WordsPlace) {
	s := p.Open(t, Patience)
	defer closing(t, s)
	writes(t, s, sample)
	if err := oldWrite(p); err == nil {
		t.Error("a program that knows of no version writes")
	}
	before := ReadNow(t, s)
	check(t, p.Script(p.Name("rules 5; of a newer program")))
	if err := tryNew(t.Context(), s); !fault.Is(err, fault.Version) {
		t.Errorf("a program of older words: %v", err)
	}
	if d := Differ(ReadNow(t, s), before); d != "" {
		t.Error(d)
	}
	check(t, p.Script(p.Name(words.Version())))
	writes(t, s, func(w writer) { w.path("new") })
}

// tryNew tries to make an advertiser.
func tryNew(ctx context.Context, s backend.Store) error {
	tx, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.Advertiser(ctx, "another"); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// testNewerWords checks that a database is not opened if its keys are of newer words, or of words that cannot be
// compared with this program's.
func testNewerWords(t *testing.T, p WordsPlace) {
	fillOld(t, p)
	for _, version := range []string{"rules 5; of a newer program", "making rules 5; of a newer program", "rules 4; other tables", ""} {
		check(t, p.Script(p.Name(version)))
		if _, err := p.Reopen(t.Context(), func() {}); !fault.Is(err, fault.Version) {
			t.Errorf("%q: %v", version, err)
		}
	}
	check(t, p.Script(p.Name(beforeVersions)))
	reopened(t, p)
}

package ingest

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/blocklist"
	"adshard/fault"
	"adshard/ingest/textfile"
)

// listsRig imports lines into its own database.
type listsRig struct {
	*testing.T
	store backend.Store
}

func newListsRig(t *testing.T) listsRig {
	s, err := sqlite.OpenScratch(t.Context(), t.TempDir()+"/none.db", sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return listsRig{t, s}
}

// put imports lines and returns the numbers of lists created, changed, removed and left unchanged, and the rejects as
// row:field.
func (r listsRig) put(lines ...string) string {
	r.Helper()
	var rejects strings.Builder
	sum, err := Run(r.Context(), r.store, []string{"-"}, Options{Stdin: strings.NewReader(strings.Join(lines, "\n")), Format: FormatJSONL, Rejects: &rejects})
	if err != nil {
		r.Fatal(err)
	}
	if !IsRejects(strings.NewReader(rejects.String())) {
		r.Errorf("no report of rejects: %s", rejects.String())
	}
	n := sum.Blocklists
	out := fmt.Sprintf("+%d ~%d -%d =%d", n.Created, n.Changed, n.Removed, n.Left)
	for line := range strings.Lines(rejects.String()) {
		cells := strings.Split(line, "\t")
		out += " !" + cells[1] + ":" + cells[2]
	}
	if int(sum.Rejected) != strings.Count(out, "!") || sum.Rows != int64(len(lines)) {
		r.Errorf("%d rows, %d rejected: %s", sum.Rows, sum.Rejected, out)
	}
	return out
}

func (r listsRig) is(name string, want blocklist.List) uint64 {
	r.Helper()
	got, err := blocklist.Load(r.Context(), r.store, name)
	if err != nil || !reflect.DeepEqual(got.List, want) {
		r.Errorf("%s: %+v, %v, not %+v", name, got.List, err, want)
	}
	return got.Version
}

func TestBlockLists(t *testing.T) {
	r := newListsRig(t)
	puts := func(want string, lines ...string) {
		t.Helper()
		if got := r.put(lines...); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	puts("+2 ~0 -0 =0", `{"type":"blocklist","name":"a","domains":["www.Example.com","b.example"],"advertisers":[7,3]}`, `{"type":"blocklist","name":"empty"}`)
	first := r.is("a", blocklist.List{Advertisers: []uint64{3, 7}, Domains: []string{"b.example", "example.com"}})
	r.is("empty", blocklist.List{})
	puts("+0 ~0 -0 =1", `{"type":"blocklist","name":"a","domains":["b.example","example.com"]}`)
	if again := r.is("a", blocklist.List{Advertisers: []uint64{3, 7}, Domains: []string{"b.example", "example.com"}}); again != first {
		t.Errorf("version %d after %d", again, first)
	}
	puts("+0 ~1 -0 =0", `{"type":"blocklist","name":"a","domains":null,"categories":["x/y"],"block_uncategorised":true}`)
	second := r.is("a", blocklist.List{Advertisers: []uint64{3, 7}, Categories: []string{"x/y"}, Uncategorised: true})
	if second <= first {
		t.Errorf("version %d after %d", second, first)
	}
	// Advertisers are looked up by name at the end of the import. A line that names an unknown advertiser is rejected,
	// and the others apply.
	puts("+0 ~1 -0 =0 !3:advertiser_names", `{"type":"blocklist","name":"a","advertiser_names":["New","Other"],"advertisers":[7]}`, `{"type":"blocklist","name":"a","categories":[]}`,
		`{"type":"blocklist","name":"a","advertiser_names":["Nobody"]}`, `{"type":"advertiser","name":"New"}`, `{"type":"advertiser","name":"Other"}`)
	r.is("a", blocklist.List{Advertisers: []uint64{1, 2, 7}, Uncategorised: true})
	puts("+0 ~0 -1 =1", `{"type":"blocklist","name":"a","status":"removed"}`, `{"type":"blocklist","name":"none","status":"removed"}`)
	if _, err := blocklist.Load(t.Context(), r.store, "a"); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	puts("+1 ~0 -0 =0", `{"type":"blocklist","name":"a","status":"removed"}`, `{"type":"blocklist","name":"a","categories":["z"]}`)
	if third := r.is("a", blocklist.List{Categories: []string{"z"}}); third <= second {
		t.Errorf("version %d after %d", third, second)
	}
	heads, err := blocklist.Heads(t.Context(), r.store)
	if err != nil || len(heads) != 2 || heads[0].Name != "a" || heads[1].Name != "empty" {
		t.Errorf("%v, %v", heads, err)
	}
}

func TestBlockListRejects(t *testing.T) {
	r := newListsRig(t)
	for line, field := range map[string]string{
		`{"type":"blocklist"}`: "name", `{"type":"blocklist","name":"A"}`: "name", `{"type":"blocklist","name":7}`: "name", `{"type":"blocklist","name":"a","x":1}`: "x",
		`{"type":"blocklist","name":"a","name":"b"}`: "name", `{"type":"blocklist","name":"a","domains":["a b"]}`: "domains", `{"type":"blocklist","name":"a","domains":"a.example"}`: "domains",
		`{"type":"blocklist","name":"a","categories":["A"]}`: "categories", `{"type":"blocklist","name":"a","advertisers":[0]}`: "advertisers",
		`{"type":"blocklist","name":"a","advertisers":["1"]}`: "advertisers", `{"type":"blocklist","name":"a","advertisers":[1.5]}`: "advertisers",
		`{"type":"blocklist","name":"a","advertisers":[-1]}`: "advertisers", `{"type":"blocklist","name":"a","block_uncategorised":1}`: "block_uncategorised",
		`{"type":"blocklist","name":"a","status":"paused"}`: "status", `{"type":"blocklist","name":"a"} {}`: "type", `{"type":"blocklist","name":"a","domains":[`: "domains",
		`{"type":"blocklist","name":"a","advertiser_names":[7]}`: "advertiser_names", `{"type":"blocklist","name":"\ud800"}`: "",
		`{"type":"keyword","advertiser":"A","campaign":"C","group":"G","text":"blocklist","match_type":"x"}`: "match_type",
	} {
		if got := r.put(line); !strings.HasPrefix(got, "+0 ~0 -0 =0 !1:") || field != "type" && got != "+0 ~0 -0 =0 !1:"+field {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// TestGoldenBlockLists imports the block lists of the golden set.
func TestGoldenBlockLists(t *testing.T) {
	r := newListsRig(t)
	file, err := os.ReadFile("../internal/goldentest/testdata/targeting/golden/blocklists.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	if got := r.put(lines...); got != fmt.Sprintf("+%d ~0 -0 =0", len(lines)) || len(lines) != 13 {
		t.Errorf("%d lines: %s", len(lines), got)
	}
	r.is("list-1", blocklist.List{Domains: []string{"eshop.xn--bcher-kva.example", "shop.market.example", "xn--trit-jwa23bpg.example.cz"}})
	r.is("list-5", blocklist.List{Uncategorised: true})
	r.is("a.b_c-0", blocklist.List{Categories: []string{"finance/loans/payday", "iab-1/20", "travel"}})
}

// TestLargeBlockList: a line may have a million entries.
func TestLargeBlockList(t *testing.T) {
	r := newListsRig(t)
	var b strings.Builder
	b.WriteString(`{"type":"blocklist","name":"large","domains":["a.example"`)
	for i := range blocklist.MaxEntries - 1 {
		fmt.Fprintf(&b, `,"h%d.example"`, i)
	}
	whole := b.String() + `]}`
	if got := r.put(whole); got != "+1 ~0 -0 =0" {
		t.Error(got)
	}
	if l, err := blocklist.Load(t.Context(), r.store, "large"); err != nil || l.Entries() != blocklist.MaxEntries || !slices.IsSorted(l.Domains) {
		t.Errorf("%d entries, %v", l.Entries(), err)
	}
	for what, line := range map[string]string{
		"one more":                 b.String() + `,"one.more.example"]}`,
		"too long":                 whole[:len(whole)-1] + strings.Repeat(" ", maxListLine) + "}",
		"a long line of a keyword": `{"type":"keyword","text":"` + strings.Repeat("x", textfile.MaxRecord) + `"}`,
	} {
		if got := r.put(line); !strings.HasPrefix(got, "+0 ~0 -0 =0 !1:") {
			t.Errorf("%s: %s", what, got)
		}
	}
	// With the entries that the list already has, there are too many.
	if got := r.put(`{"type":"blocklist","name":"large","categories":["c"]}`); got != "+0 ~0 -0 =1 !1:domains" {
		t.Error(got)
	}
}

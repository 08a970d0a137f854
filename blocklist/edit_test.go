package blocklist

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/fault"
)

func drawList(t *rapid.T, name string) List {
	small := rapid.SampledFrom([]string{"a.example", "b.example", "www.a.example", "c.a.example"})
	l := List{
		Advertisers: rapid.SliceOf(rapid.Uint64Range(1, 5)).Draw(t, name+" advertisers"), Domains: rapid.SliceOf(small).Draw(t, name+" domains"),
		Categories: rapid.SliceOf(rapid.SampledFrom([]string{"a", "a/b", "b"})).Draw(t, name+" categories"), Uncategorised: rapid.Bool().Draw(t, name+" flag"),
	}
	if err := l.Normalise(); err != nil {
		t.Fatal(err)
	}
	return l
}

// slowEdit returns the result of an edit on the entries of one kind.
func slowEdit[T interface{ ~uint64 | ~string }](replaced bool, list, whole, remove, add []T) []T {
	set := map[T]bool{}
	if replaced {
		list = whole
	}
	for _, e := range list {
		set[e] = true
	}
	for _, e := range remove {
		delete(set, e)
	}
	for _, e := range add {
		set[e] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// TestEdit: an edit gives the same result as operations on sets, in order, and does not change the list.
func TestEdit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawList(t, "list")
		was := fmt.Sprint(l)
		e := Edit{List: drawList(t, "whole"), Remove: drawList(t, "remove"), Add: drawList(t, "add"), Has: map[string]bool{}}
		for _, f := range []string{FieldAdvertisers, FieldDomains, FieldCategories, FieldUncategorised} {
			e.Has[f] = rapid.Bool().Draw(t, f)
		}
		got, err := e.Apply(&l)
		if err != nil {
			t.Fatal(err)
		}
		want := List{
			Advertisers:   slowEdit(e.Has[FieldAdvertisers], l.Advertisers, e.Advertisers, e.Remove.Advertisers, e.Add.Advertisers),
			Domains:       slowEdit(e.Has[FieldDomains], l.Domains, e.Domains, e.Remove.Domains, e.Add.Domains),
			Categories:    slowEdit(e.Has[FieldCategories], l.Categories, e.Categories, e.Remove.Categories, e.Add.Categories),
			Uncategorised: l.Uncategorised,
		}
		if e.Has[FieldUncategorised] {
			want.Uncategorised = e.Uncategorised
		}
		if got.Text() != want.Text() {
			t.Fatalf("%+v, not %+v", got, want)
		}
		if now := fmt.Sprint(l); now != was {
			t.Fatalf("the list was changed from %s to %s", was, now)
		}
	})
}

func TestWrongEdits(t *testing.T) {
	for field, e := range map[string]Edit{
		"domains":         {List: List{Domains: []string{"a b"}}},
		"add.domains":     {Add: List{Domains: []string{"a/b"}}},
		"remove.domains":  {Remove: List{Domains: []string{""}}},
		"add.categories":  {Add: List{Categories: []string{"A"}}},
		"add.advertisers": {Add: List{Advertisers: []uint64{0}}},
	} {
		if err := e.Normalise(); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != field {
			t.Errorf("%s: %v at %q", field, err, fault.FieldOf(err))
		}
	}
	full := List{Advertisers: make([]uint64, MaxEntries)}
	for i := range full.Advertisers {
		full.Advertisers[i] = uint64(i + 1)
	}
	e := Edit{Add: List{Categories: []string{"a"}}}
	if _, err := e.Apply(&full); !fault.Is(err, fault.Invalid) {
		t.Errorf("one entry too many: %v", err)
	}
	e.Remove.Advertisers = []uint64{7}
	if got, err := e.Apply(&full); err != nil || got.Entries() != MaxEntries {
		t.Errorf("one for another: %v", err)
	}
}

// TestPages: the pages of a list together are the list. An entry that is there all the time is on exactly one page, whatever is
// added and removed between two calls.
func TestPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawList(t, "list")
		edits := rapid.Bool().Draw(t, "it changes")
		kept := l.Text()
		var seen List
		for cursor := ""; ; {
			page, next, err := l.Page(cursor, rapid.IntRange(1, 4).Draw(t, "limit"))
			if err != nil || page.Uncategorised != l.Uncategorised {
				t.Fatalf("%v, %+v", err, page)
			}
			seen.Advertisers = append(seen.Advertisers, page.Advertisers...)
			seen.Domains = append(seen.Domains, page.Domains...)
			seen.Categories = append(seen.Categories, page.Categories...)
			if next == "" {
				break
			}
			if page.Entries() == 0 || len(next) > MaxCursor {
				t.Fatalf("%+v, %q", page, next)
			}
			cursor = next
			if edits { // 9 and z were not in the list before
				e := Edit{Add: List{Advertisers: []uint64{9}, Domains: []string{"z.example"}}}
				if rapid.Bool().Draw(t, "removes") {
					e = Edit{Remove: e.Add}
				}
				changed, err := e.Apply(&l)
				if err != nil {
					t.Fatal(err)
				}
				l = *changed
			}
		}
		seen.Uncategorised = l.Uncategorised
		seen.Advertisers = slices.DeleteFunc(seen.Advertisers, func(id uint64) bool { return id == 9 })
		seen.Domains = slices.DeleteFunc(seen.Domains, func(d string) bool { return d == "z.example" })
		if got := seen.Text(); got != kept {
			t.Fatalf("%q, not %q", got, kept)
		}
	})
	l := List{Advertisers: []uint64{1}}
	for _, wrong := range []string{"a", "a.", "a.x", "a.-1", "x.1", "1", "."} {
		if _, _, err := l.Page(wrong, 1); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != "cursor" {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if page, next, err := l.Page("c.z", 9); err != nil || next != "" || !reflect.DeepEqual(page, List{Categories: page.Categories}) || page.Entries() != 0 {
		t.Errorf("%+v %q %v", page, next, err)
	}
}

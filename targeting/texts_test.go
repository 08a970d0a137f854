package targeting

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSets: sets contain the same values as maps, with and without a filter.
func TestSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Uint64Range(1, 300), 0, 200).Draw(t, "list")
		texts, numbers := map[string]bool{}, map[uint64]bool{}
		var names []string
		for _, n := range list {
			name := strings.Repeat("a", int(n%3)) + fmt.Sprint(n)
			names, texts[name], numbers[n] = append(names, name), true, true
		}
		was := fmt.Sprint(names, list)
		set, ids := NewTexts(names), NewIDs(list)
		if fmt.Sprint(names, list) != was {
			t.Fatal("the lists were changed")
		}
		if got := set.List(); !slices.Equal(got, slices.Sorted(maps.Keys(texts))) || set.Len() != len(texts) {
			t.Fatalf("%q of %q", got, names)
		}
		if got := ids.List(); !slices.Equal(got, slices.Sorted(maps.Keys(numbers))) || ids.Len() != len(numbers) {
			t.Fatalf("%d of %d", got, list)
		}
		for n := range uint64(302) {
			if ids.Has(n) != numbers[n] {
				t.Fatalf("%d: %v", n, ids.Has(n))
			}
			for as := range 4 {
				if name := strings.Repeat("a", as) + fmt.Sprint(n); set.Has(name) != texts[name] {
					t.Fatalf("%s: %v", name, set.Has(name))
				}
			}
		}
		lines, rest, err := CutTexts(strings.Join(append(set.List(), ""), "\n")+"\trest", "", set.Len())
		if err != nil || rest != "\trest" || !slices.Equal(lines.List(), set.List()) {
			t.Fatalf("%q, %q, %v", lines.List(), rest, err)
		}
	})
}

func TestCutTexts(t *testing.T) {
	set, rest, err := CutTexts("x\ta\nx\tab\nx\tb\ny\tc\n", "x\t", 9)
	if err != nil || rest != "y\tc\n" || !reflect.DeepEqual(set.List(), []string{"a", "ab", "b"}) || !set.Has("ab") || set.Has("x\ta") {
		t.Errorf("%q, %q, %v", set.List(), rest, err)
	}
	if set, rest, err = CutTexts("x\ta\nx\tb\n", "x\t", 1); err != nil || rest != "x\tb\n" || set.Len() != 1 {
		t.Errorf("%q, %q, %v", set.List(), rest, err)
	}
	if set, rest, err = CutTexts("y\n", "x\t", 9); err != nil || rest != "y\n" || set.Len() != 0 || set.Has("") {
		t.Errorf("%q, %q, %v", set.List(), rest, err)
	}
	for text, want := range map[string]string{"x\ta\nx\ta\n": "x\ta\n", "x\tb\nx\ta\n": "x\ta\n", "x\ta": "x\ta", "x\ta\nx\t\n": "x\t\n", "x\t": "x\t"} {
		if _, rest, err = CutTexts(text, "x\t", 9); err == nil || rest != want {
			t.Errorf("%q: %q, %v", text, rest, err)
		}
	}
}

// TestLargeBlocks: a large set of domains blocks each entry and its subdomains, and nothing else. The filter passes few
// other domains.
func TestLargeBlocks(t *testing.T) {
	const size = 10_000
	var list []string
	for i := range size {
		list = append(list, fmt.Sprintf("host-%d.example", i))
	}
	b := NewBlocks(nil, list, nil, false)
	if small := NewTexts(list[:10]); b.Domains.filter == nil || small.filter != nil {
		t.Fatal("large sets have a filter, small ones none")
	}
	wrong := 0
	for i := range 2 * size {
		host := fmt.Sprintf("host-%d.example", i)
		if in := i < len(list); b.domain(host) != in || b.domain("shop."+host) != in || b.domain("x"+host) {
			t.Fatalf("%s: %v", host, b.domain(host))
		}
		if i >= len(list) && b.Domains.filter.may(hashText(host)) {
			wrong++
		}
	}
	if wrong > size/30 {
		t.Errorf("the filter lets %d of %d pass", wrong, size)
	}
}

// TestFilteredIDs: a filter of consecutive numbers passes few other numbers.
func TestFilteredIDs(t *testing.T) {
	const size = 10_000
	var list []uint64
	for i := range uint64(size) {
		list = append(list, 2*i)
	}
	s, wrong := NewIDs(list), 0
	for i := range uint64(size) {
		if !s.Has(2*i) || s.Has(2*i+1) {
			t.Fatal(i)
		}
		if s.filter.may(hashID(2*i + 1)) {
			wrong++
		}
	}
	if wrong > size/30 {
		t.Errorf("the filter lets %d of %d pass", wrong, size)
	}
}

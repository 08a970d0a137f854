package places

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"pgregory.net/rapid"

	"adshard/fault"
)

// renamed are the countries whose names in CLDR 32, which golang.org/x/text has, differ from those in CLDR 48.
var renamed = map[string][2]string{
	"TR": {"Turkey", "Türkiye"}, "SZ": {"Swaziland", "Eswatini"}, "MK": {"Macedonia", "North Macedonia"}, "MO": {"Macau SAR China", "Macao SAR China"},
}

// TestCountries compares the built-in table with another source of codes and names.
func TestCountries(t *testing.T) {
	names := display.English.Regions()
	codes := map[string]bool{}
	for r := range Countries().All() {
		region, err := language.ParseRegion(r.Country)
		if err != nil || region.M49() != int(r.ID)-2000 || !region.IsCountry() && r.Country != "AQ" {
			t.Errorf("%v: %v of %q is %v, %v", r, r.ID, r.Country, region.M49(), err)
		}
		want := names.Name(region)
		if other, ok := renamed[r.Country]; ok && want == other[0] {
			want = other[1]
		}
		if r.Name != want || r.CanonicalName != want || r.Type != "Country" || r.Status != Active || r.Parent != 0 {
			t.Errorf("%+v: its name is %q", r, want)
		}
		codes[r.Country] = true
	}
	if Countries().Len() != 249 || len(codes) != 249 {
		t.Errorf("%d countries with %d codes", Countries().Len(), len(codes))
	}
}

func row(id, parent uint32, name string) Row {
	return Row{ID: id, Name: name, Parent: parent, Country: "CZ", Type: "City"}
}

// told returns a table and the refused rows as text.
func told(t *Table, refused []Refused) string {
	var b strings.Builder
	for r := range t.All() {
		if r.ID < 2000 {
			fmt.Fprintf(&b, "%d<%d@%d:%s ", r.ID, r.Parent, t.Depth(r.ID), r.Name)
		}
	}
	for _, r := range refused {
		fmt.Fprintf(&b, "!%d ", r.Row)
	}
	return strings.TrimSpace(b.String())
}

func TestWith(t *testing.T) {
	base, refused := Countries().With([]Row{row(1, 2203, "a"), row(2, 1, "b"), row(3, 2, "c")})
	if got := told(base, refused); got != "1<2203@2:a 2<1@3:b 3<2@4:c" {
		t.Fatal(got)
	}
	for _, c := range []struct {
		what string
		rows []Row
		want string
	}{
		{"nothing", nil, "1<2203@2:a 2<1@3:b 3<2@4:c"},
		{"a parent further down", []Row{row(4, 5, "d"), row(5, 2840, "e")}, "1<2203@2:a 2<1@3:b 3<2@4:c 4<5@3:d 5<2840@2:e"},
		{"a row replaces", []Row{row(2, 2840, "B")}, "1<2203@2:a 2<2840@2:B 3<2@3:c"},
		{"of two the later", []Row{row(2, 2840, "x"), row(2, 0, "y")}, "1<2203@2:a 2<0@1:y 3<2@2:c"},
		{"the later is refused", []Row{row(2, 2840, "x"), row(2, 99, "y")}, "1<2203@2:a 2<1@3:b 3<2@4:c !1"},
		{"no parent, and what is below", []Row{row(4, 99, "d"), row(5, 4, "e"), row(6, 5, "f")}, "1<2203@2:a 2<1@3:b 3<2@4:c !0 !1 !2"},
		{"its own parent", []Row{row(4, 4, "d")}, "1<2203@2:a 2<1@3:b 3<2@4:c !0"},
		{"a circle, and what is below", []Row{row(6, 4, "f"), row(4, 5, "d"), row(5, 4, "e")}, "1<2203@2:a 2<1@3:b 3<2@4:c !0 !1 !2"},
		{"below an older row that stays", []Row{row(1, 99, "A"), row(4, 1, "d")}, "1<2203@2:a 2<1@3:b 3<2@4:c 4<1@3:d !0"},
		{"a circle through older rows", []Row{row(1, 3, "A"), row(4, 1, "d")}, "1<2203@2:a 2<1@3:b 3<2@4:c 4<1@3:d !0"},
		{"a circle once an older row stays", []Row{row(1, 3, "A"), row(2, 99, "B"), row(3, 2840, "C")}, "1<3@3:A 2<1@4:b 3<2840@2:C !1"},
		{"a circle that an older row closes", []Row{row(1, 2, "A"), row(2, 99, "B")}, "1<2203@2:a 2<1@3:b 3<2@4:c !0 !1"},
	} {
		if got := told(base.With(c.rows)); got != c.want {
			t.Errorf("%s: %s, not %s", c.what, got, c.want)
		}
	}
	if told(base, nil) != "1<2203@2:a 2<1@3:b 3<2@4:c" {
		t.Error("the table has changed")
	}
}

// TestDeepestPlaces: a chain can have MaxDepth places, and no import makes it longer, either from below or from above.
func TestDeepestPlaces(t *testing.T) {
	var chain []Row
	for i := range uint32(MaxDepth) {
		chain = append(chain, row(i+1, i, "x"))
	}
	full, refused := new(Table).With(chain)
	if len(refused) > 0 || full.Depth(MaxDepth) != MaxDepth {
		t.Fatalf("%v, depth %d", refused, full.Depth(MaxDepth))
	}
	for what, rows := range map[string][]Row{
		"below":          {row(1000, MaxDepth, "below"), row(1001, 1000, "and below it")},
		"above":          {row(1000, 0, "above"), row(1, 1000, "was the first")},
		"in the middle":  {row(1000, 63, "between"), row(64, 1000, "x")},
		"a renamed row":  {row(MaxDepth, MaxDepth-1, "x"), row(1000, 0, "above"), row(1, 1000, "was the first")},
		"another branch": {row(1000, 3, "beside"), row(4, 1000, "x")},
	} {
		table, refused := full.With(rows)
		if table.Depth(MaxDepth) != MaxDepth || len(refused) == 0 || !strings.Contains(refused[0].Err.Error(), "127") {
			t.Errorf("%s: depth %d, %v", what, table.Depth(MaxDepth), refused)
		}
	}
	long := full.Text() + "1000\tbelow\t\t128\t\t\tActive\n"
	if _, err := Parse(long); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a stored table that is too deep: %v", err)
	}
}

// draw draws rows whose parents form chains and circles or are missing.
func draw(t *rapid.T, what string) []Row {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Row {
		return row(rapid.Uint32Range(1, 12).Draw(t, "id"), rapid.Uint32Range(0, 14).Draw(t, "parent"), rapid.StringMatching("[a-c]{1,2}").Draw(t, "name"))
	}), 0, 14).Draw(t, what)
}

// TestWithRefuses compares With with rules that are applied one at a time until none applies.
func TestWithRefuses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, _ := new(Table).With(draw(t, "base"))
		rows := draw(t, "rows")
		deepest := rapid.SampledFrom([]int{MaxDepth, 2, 3, 4}).Draw(t, "deepest")
		base, _ = new(Table).with(slices.Collect(base.All()), deepest)
		got, refused := base.with(rows, deepest)
		want, wantRefused := slowWith(base, rows, deepest)
		if told(got, nil) != want || !slices.EqualFunc(refused, wantRefused, func(r Refused, row int) bool { return r.Row == row }) {
			t.Fatalf("%s with %v: %s without %v, not %s without %v", told(base, nil), rows, told(got, nil), refused, want, wantRefused)
		}
	})
}

// slowWith applies the rules of With to maps. A circle that includes an older row is not refused while a row in it may still be
// replaced by an older one because its parent is missing. So all faults of a pass are found before any row is withdrawn.
func slowWith(base *Table, rows []Row, deepest int) (string, []int) {
	last := map[uint32]int{}
	for i := range rows {
		last[rows[i].ID] = i
	}
	var refused []int
	for {
		now := map[uint32]Row{}
		for r := range base.All() {
			now[r.ID] = r
		}
		for id, i := range last {
			now[id] = rows[i]
		}
		bad := map[uint32]bool{}
		for more := true; more; {
			more = false
			for id := range last {
				if p := now[id].Parent; !bad[id] && (p != 0 && absent(base, now, bad, p) || circles(now, id)) {
					bad[id], more = true, true
				}
			}
		}
		if len(bad) == 0 {
			for id := range now {
				if row, deep := tooDeep(base, now, last, id, deepest); deep {
					bad[row] = true
				}
			}
		}
		if len(bad) == 0 {
			var all []Row
			for _, r := range now {
				all = append(all, r)
			}
			slices.SortFunc(all, func(a, b Row) int { return int(a.ID) - int(b.ID) })
			for i := range all {
				all[i].complete()
			}
			slices.Sort(refused)
			return told(build(all), nil), refused
		}
		for id := range bad {
			refused = append(refused, last[id])
			delete(last, id)
		}
	}
}

// tooDeep returns the row to blame for a place that is one level too deep.
func tooDeep(base *Table, now map[uint32]Row, last map[uint32]int, id uint32, deepest int) (row uint32, deep bool) {
	depth := 0
	for at := id; at != 0; at = now[at].Parent {
		_, isRow := last[at]
		if was, older := base.Place(at); row == 0 && isRow && (!older || was.Parent != now[at].Parent) {
			row = at
		}
		depth++
	}
	return row, depth == deepest+1
}

func absent(base *Table, now map[uint32]Row, bad map[uint32]bool, id uint32) bool {
	_, there := now[id]
	_, older := base.Place(id)
	return !there || bad[id] && !older
}

func circles(now map[uint32]Row, id uint32) bool {
	at := now[id].Parent
	for range len(now) {
		if at == id {
			return true
		}
		at = now[at].Parent
	}
	return false
}

func TestText(t *testing.T) {
	table, _ := Countries().With([]Row{
		{ID: 1, Name: "a", CanonicalName: "a,Czechia", Parent: 2203, Country: "CZ", Type: "City", Status: "Removal Planned"}, {ID: 4294967295, Name: "z"},
	})
	again, err := Parse(table.Text())
	if err != nil || again.Text() != table.Text() || again.Version() != table.Version() || again.Version() == Countries().Version() {
		t.Errorf("%v: versions %s, %s", err, again.Version(), table.Version())
	}
	if r, ok := again.Place(1); !ok || r != (Row{1, "a", "a,Czechia", 2203, "CZ", "City", "Removal Planned"}) {
		t.Errorf("%+v", r)
	}
	if r, _ := again.Place(4294967295); r.CanonicalName != "z" || r.Status != Active || again.Depth(4294967295) != 1 || again.Depth(7) != 0 {
		t.Errorf("%+v", r)
	}
	for _, damaged := range []string{
		"1\ta\t\t\t\t\tActive", "1\ta\t\t\t\t\n", "1\ta\t\t\t\t\tActive\t\n", "0\ta\t\t\t\t\tActive\n", "1\t\t\t\t\t\tActive\n", "1\ta\t\t7\t\t\tActive\n",
		"1\ta\t\t1\t\t\tActive\n", "1\ta\t\tx\t\t\tActive\n", "2\ta\t\t\t\t\tActive\n1\ta\t\t\t\t\tActive\n", "1\ta\t\t\t\t\tActive\n1\tb\t\t\t\t\tActive\n",
		"1\ta\ta\t\t\t\tActive\n", "1\ta\xff\t\t\t\t\tActive\n", "\n",
	} {
		if _, err := Parse(damaged); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%q: %v", damaged, err)
		}
	}
}

func TestNames(t *testing.T) {
	table, refused := Countries().With([]Row{
		{ID: 1, Name: "Twin", CanonicalName: "Twin,Saxony", Parent: 2276}, {ID: 2, Name: "Twin", CanonicalName: "Twin,Bavaria", Parent: 2276},
		{ID: 3, Name: "Žďár", Parent: 2203}, {ID: 4, Name: "Georgia", CanonicalName: "Georgia,United States", Parent: 2840},
		{ID: 5, Name: "Gone", Status: "Removal Planned"}, {ID: 6, Name: "x" + strings.Repeat("\u0301", 31)},
	})
	if len(refused) > 0 {
		t.Fatal(refused)
	}
	names := NewNames(table)
	for name, want := range map[string][]uint32{
		"Czechia": {2203}, "CZECHIA": {2203}, "ＣZECHIA": {2203}, "Türkiye": {2792}, "CÔTE D'IVOIRE": {2384}, "ŽĎÁR": {3}, "Zdar": nil,
		"twin": {1, 2}, "twin,bavaria": {2}, "Georgia": {2268}, "georgia,UNITED states": {4}, "Gone": nil, "": nil, "\xff": nil,
	} {
		if got := names.Lookup(name); !slices.Equal(got, want) {
			t.Errorf("%q: %v, not %v", name, got, want)
		}
	}
	for text, want := range map[string][]uint32{
		"twin": {1, 2}, "zd": {3}, "bav twin": nil, "twin bav": {2}, "united": {2784, 2826, 2840, 4}, "gone": {5}, "": nil, "states UNITED": {2840, 4},
	} {
		found, total, err := table.Find(text, 3)
		var got []uint32
		for _, r := range found {
			got = append(got, r.ID)
		}
		if err != nil || total != len(want) || !slices.Equal(got, want[:min(3, len(want))]) {
			t.Errorf("%q: %v of %d, %v, not %v", text, got, total, err, want)
		}
	}
	if _, _, err := table.Find("\xff", 3); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

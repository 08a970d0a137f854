package rekey

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"adshard/backend/upsert"
	"adshard/search"
	"adshard/search/words"
)

// pieces are texts of which some have equal keys, and some have none.
var pieces = []string{"men's", "men\u2019s", "men s", "head\u00adphones", "headphones", "head phones", "ring", "\u3164", "'",
	"a b c d e f g h i j k", "a\xff", "バス", "ﾊﾞｽ"}

// keyNow computes the key of a text the slow way; it returns "" if the text is not a keyword.
func keyNow(text string) string {
	list, err := words.Keyword(text)
	if err != nil {
		return ""
	}
	key := ""
	for i, w := range list {
		if i > 0 {
			key += " "
		}
		key += w.Normalised
	}
	return key
}

// TestPlan compares the plan with plain loops, whatever the keys were. Each key appears once, in the row with the
// lowest id that has it. No other key is lost, and the rows removed beforehand are those that will be overwritten.
func TestPlan(t *testing.T) {
	var a words.Analyser
	rapid.Check(t, func(t *rapid.T) {
		before := make(map[upsert.Phrase]bool)
		var rows []*upsert.Row[upsert.Phrase, upsert.Negative]
		for i := range rapid.IntRange(0, 8).Draw(t, "rows") {
			key := upsert.Phrase{Words: rapid.SampledFrom(append([]string{"x", "y"}, pieces...)).Draw(t, "key"), Match: search.MatchType(rapid.IntRange(0, 1).Draw(t, "type"))}
			if before[key] {
				continue
			}
			before[key] = true
			v := upsert.Negative{Text: rapid.SampledFrom(pieces).Draw(t, "text"), Enabled: rapid.Bool().Draw(t, "enabled")}
			rows = append(rows, upsert.Stored(7, uint64(100-i), key, v))
		}
		p := planOf(&a, rows, negatives)
		check(t, rows, &p)
	})
}

func check(t *rapid.T, rows []*upsert.Row[upsert.Phrase, upsert.Negative], p *plan[upsert.Negative]) {
	now := make(map[upsert.Phrase]*upsert.Row[upsert.Phrase, upsert.Negative])
	for _, r := range rows {
		if !slices.Contains(p.taken, r) {
			now[r.Key] = r
		}
	}
	for _, r := range p.written {
		if now[r.Key] != nil {
			t.Fatalf("two rows of %v", r.Key)
		}
		now[r.Key] = r
	}
	for key, r := range now {
		lowest, enabled := uint64(0), false
		for _, of := range rows {
			made := upsert.Phrase{Words: keyNow(of.Before.Text), Match: of.Key.Match}
			if settled(of.Before.Text) {
				made = of.Key
			}
			if made == key {
				if lowest == 0 || of.ID < lowest {
					lowest = of.ID
				}
				enabled = enabled || of.Before.Enabled
			}
		}
		if r.ID != lowest || r.Now.Enabled != enabled {
			t.Fatalf("%v is of row %d, enabled %v; want %d, %v", key, r.ID, r.Now.Enabled, lowest, enabled)
		}
	}
	if len(now)+len(p.gone) != len(rows) {
		t.Fatalf("%d rows are %d, and %d are gone", len(rows), len(now), len(p.gone))
	}
	for _, g := range p.gone {
		key := upsert.Phrase{Words: keyNow(g.row.Before.Text), Match: g.row.Key.Match}
		if settled(g.row.Before.Text) {
			key = g.row.Key
		}
		switch stays := now[key]; {
		case key.Words == "" && (g.why == "" || g.kept != 0):
			t.Fatalf("%q is gone because of %d, %q", g.row.Before.Text, g.kept, g.why)
		case key.Words != "" && (stays == nil || g.kept != stays.ID || g.why != ""):
			t.Fatalf("%q is one with %d, %q", g.row.Before.Text, g.kept, g.why)
		}
	}
}

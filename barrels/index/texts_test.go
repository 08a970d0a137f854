package index

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestTexts: each keyword's text is found by its id, and no other id is found, also beyond the first mark and with a builder that is used
// again.
func TestTexts(t *testing.T) {
	var b TextsBuilder
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOfN(rapid.Uint64Range(1, 1<<rapid.IntRange(8, 63).Draw(t, "bits")), rapid.StringN(0, 40, 200), 0, 4*markedKeywords).Draw(t, "texts")
		var ids []uint64
		for id := range want {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		b.Reset()
		for _, id := range ids {
			b.Add(id, []byte(want[id]))
		}
		texts := b.Texts()
		for _, id := range ids {
			for _, asked := range []uint64{id - 1, id, id + 1} {
				text, ok := texts.Of(asked)
				if expected, there := want[asked]; ok != there || text != expected {
					t.Fatalf("keyword %d of %d: %q, %v; want %q, %v", asked, len(ids), text, ok, expected, there)
				}
			}
		}
		if least := 2*len(ids) - 1; texts.bytes() < least {
			t.Fatalf("%d keywords take %d bytes", len(ids), texts.bytes())
		}
	})
}

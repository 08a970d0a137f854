package record

import (
	"testing"

	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

// TestNegativesOfRuns: among many negatives one whose first word is a run of the query is found, too.
func TestNegativesOfRuns(t *testing.T) {
	var list []*pb.Negative
	for i, text := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "手机 x"} {
		split, err := words.Split(text)
		if err != nil {
			t.Fatal(err)
		}
		n := &pb.Negative{Id: uint64(i + 1), Text: text, Type: pb.MatchType(search.Phrase), Enabled: true}
		for _, w := range split {
			n.Norm = append(n.Norm, words.Hash(w.Normalised))
		}
		list = append(list, n)
	}
	for text, want := range map[string]bool{"红手机 x": true, "手机壳 x": false, "手 机x": true, "机手 x": false, "手机 c": true} {
		q, err := search.Expand(text, search.Identical, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := CompileNegatives(list).Block(q); got != want {
			t.Errorf("%q is blocked: %v", text, got)
		}
	}
}

package barreltest

import (
	"adshard/barrels"
	"adshard/internal/oracle/oracletest"
)

// SameStats fails if a store's sizes are not those of the world.
func SameStats(t TB, s barrels.Store, w *oracletest.World) {
	t.Helper()
	var keywords uint64
	for _, it := range w.Items {
		keywords += uint64(len(it.Keywords))
	}
	st := s.Stats()
	if st.Groups != uint64(len(w.Items)) || st.Keywords != keywords || st.Postings < keywords ||
		keywords > 0 && (st.Blocks == 0 || st.Terms == 0) || st.BadBlocks != 0 {
		t.Fatalf("%d groups, %d keywords; the store says %+v", len(w.Items), keywords, st)
	}
	if keywords == 0 && st.Postings+st.Blocks+st.Terms > 0 {
		t.Fatalf("nothing is left, but the store says %+v", st)
	}
}

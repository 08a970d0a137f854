package console_test

import (
	"testing"

	"adshard/backend"
	"adshard/search"
)

// TestLearnedIsShown: a keyword with a learned quality shows it beside the given one, together with the counts it was
// learned from. Learning does not invalidate a form that is open in a browser.
func TestLearnedIsShown(t *testing.T) {
	db, with := fill(t, shop, nil)
	b := &browser{t: t, port: newPort(t, false, with)}
	const group, keyword = "/console/data/groups/1", "/console/data/keywords/1?group=1"
	before := b.get(group)
	lacks(t, before, "learned from")
	tx, err := db.DB.Begin(t.Context())
	db.Must(err)
	defer tx.Rollback()
	learned := backend.NewLearned(9, 3, 12345, 678)
	db.Must(tx.Keyword(t.Context(), 1, backend.KeywordPatch{Text: "usb cable", Words: "usb cable", Type: search.Broad, Learned: backend.To(learned)}))
	db.Must(tx.Commit(t.Context()))
	after := b.get(group)
	has(t, after, 200, "<span>9<br>", "given 5; learned from 678 of 12,345 (keyword)")
	if was, is := etag(t, before, keyword), etag(t, after, keyword); was != is {
		t.Errorf("learning changes the ETag from %s to %s", was, is)
	}
}

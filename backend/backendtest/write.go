package backendtest

import (
	"context"
	"testing"

	"adshard/backend"
	"adshard/search"
)

// writer writes to a transaction and ends the test on an error.
type writer struct {
	t   testing.TB
	ctx context.Context
	backend.Tx
}

// begin starts a transaction, which is rolled back at the end of the test if it is still open.
func begin(t testing.TB, s backend.Store) writer {
	t.Helper()
	tx, err := s.Begin(t.Context())
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	t.Cleanup(func() { tx.Rollback() })
	return writer{t, t.Context(), tx}
}

// writes runs f in a transaction and commits it.
func writes(t testing.TB, s backend.Store, f func(w writer)) {
	t.Helper()
	w := begin(t, s)
	f(w)
	w.commit()
}

func (w writer) must(err error) {
	if err != nil {
		w.t.Helper()
		w.t.Fatal(err)
	}
}

func (w writer) commit() {
	w.t.Helper()
	w.must(w.Commit(w.ctx))
}

func (w writer) advertiser(name string) uint64 {
	w.t.Helper()
	id, err := w.Advertiser(w.ctx, name)
	w.must(err)
	return id
}

func (w writer) campaign(advertiser uint64, name string, p backend.CampaignPatch) uint64 {
	w.t.Helper()
	id, err := w.Campaign(w.ctx, advertiser, name, p)
	w.must(err)
	return id
}

func (w writer) group(campaign uint64, name string, p backend.GroupPatch) uint64 {
	w.t.Helper()
	id, err := w.Group(w.ctx, campaign, name, p)
	w.must(err)
	return id
}

// path makes or finds advertiser "A", campaign "C" and a group, and returns the ids of the campaign and the group.
func (w writer) path(group string) (campaign, id uint64) {
	w.t.Helper()
	campaign = w.campaign(w.advertiser("A"), "C", backend.CampaignPatch{})
	return campaign, w.group(campaign, group, backend.GroupPatch{})
}

func (w writer) keyword(group uint64, k backend.KeywordPatch) {
	w.t.Helper()
	w.must(w.Keyword(w.ctx, group, k))
}

// words writes broad keywords to a group.
func (w writer) words(group uint64, words ...string) {
	w.t.Helper()
	for _, s := range words {
		w.keyword(group, broad(s))
	}
}

func (w writer) negative(o backend.NegativeOwner, words string, s backend.Status) {
	w.t.Helper()
	w.must(w.Negative(w.ctx, o, backend.NegativePatch{Text: words, Words: words, Type: search.Broad, Status: s}))
}

func (w writer) ad(group uint64, headline string, s backend.Status) {
	w.t.Helper()
	w.must(w.Ad(w.ctx, group, backend.AdPatch{Headlines: []string{headline}, FinalURL: "https://a.example/", Status: s}))
}

func broad(words string) backend.KeywordPatch {
	return backend.KeywordPatch{Text: words, Words: words, Type: search.Broad}
}

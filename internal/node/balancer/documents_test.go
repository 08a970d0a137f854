package balancer

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/documents"
	"adshard/internal/node/remote"
	"adshard/internal/node/wire"
	"adshard/places"
	"adshard/schema/pb"
)

// tableOf returns a table that takes several parts when compressed.
func tableOf(seed uint64) *places.Table {
	random := rand.New(rand.NewPCG(seed, 0))
	rows := make([]places.Row, 40_000)
	for i := range rows {
		rows[i] = places.Row{ID: uint32(9_000_000 + i), Name: fmt.Sprintf("%x", random.Uint64()), Parent: 2203}
	}
	t, _ := places.Countries().With(rows)
	return t
}

// TestDocuments: a follower gets a new table of places soon after it was saved, even if the balancer restarts meanwhile, and uses the
// old one until then.
func TestDocuments(t *testing.T) {
	r := newRig(t, 1)
	r.start()
	conn, err := wire.Dial(r.addr)
	r.Must(err)
	defer conn.Close()
	p, own := new(documents.Places), r.b.data.Database
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		documents.New("m", func() string { return own }, remote.Balancer{Conn: conn}, p, slog.New(slog.DiscardHandler)).Run(ctx)
	}()
	defer func() { cancel(); <-done }()
	has := func(want *places.Table) {
		t.Helper()
		r.eventually("the table is there", func() bool { return p.Table() != nil && p.Table().Version() == want.Version() })
	}
	save := func(was uint64, table *places.Table) uint64 {
		t.Helper()
		d, err := r.DB.SaveDocument(t.Context(), backend.PlacesDocument, was, backend.PackDocument(table.Text()))
		r.Must(err)
		if d.Parts() < 2 {
			t.Errorf("%d parts", d.Parts())
		}
		return d.Version
	}
	has(places.Countries())
	first, second := tableOf(1), tableOf(2)
	version := save(0, first)
	has(first)
	r.stop()
	version = save(version, second)
	if p.Table().Version() != first.Version() {
		t.Error("without a balancer there is another table")
	}
	r.start()
	has(second)
	for what, q := range map[string]*pb.DocumentPartRequest{
		"an older version": {Name: "m", Document: backend.PlacesDocument, Version: version - 1}, "no such part": {Name: "m", Document: backend.PlacesDocument, Version: version, Part: 1 << 20},
		"no such document": {Name: "m", Document: "x", Version: version},
	} {
		if _, err := r.b.documents.DocumentPart(t.Context(), q); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

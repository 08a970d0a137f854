package balancer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/blocklist"
	"adshard/fault"
	"adshard/internal/node/documents"
	"adshard/internal/node/remote"
	"adshard/internal/node/wire"
	"adshard/places"
	"adshard/schema/pb"
)

// tableOf returns a table that has some parts when it is compressed.
func tableOf(seed uint64) *places.Table {
	random := rand.New(rand.NewPCG(seed, 0))
	rows := make([]places.Row, 40_000)
	for i := range rows {
		rows[i] = places.Row{ID: uint32(9_000_000 + i), Name: fmt.Sprintf("%x", random.Uint64()), Parent: 2203}
	}
	t, _ := places.Countries().With(rows)
	return t
}

// TestDocuments: who follows has a new table of places soon after it was saved, also over a restart of the balancer, and uses the old
// one until then.
func TestDocuments(t *testing.T) {
	r := newRig(t, 1)
	r.start()
	conn, err := wire.Dial(r.addr)
	r.Must(err)
	defer conn.Close()
	p := new(documents.Places)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		documents.New("m", remote.Balancer{Conn: conn}, p, slog.New(slog.DiscardHandler)).Run(ctx)
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
		if _, err := r.b.DocumentPart(t.Context(), q); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestRestoredDocuments: a database that lacks the newest document was restored, although its clock is the same. Those who follow get what
// it has, also where that has a version that they had, with other data, or a lower one.
func TestRestoredDocuments(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "ads.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	save := func(was uint64, category string) uint64 {
		t.Helper()
		version, err := blocklist.Save(t.Context(), store, "a", was, &blocklist.List{Categories: []string{category}})
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	db, l, log := &goesBack{Store: store}, new(documents.Lists), slog.New(slog.DiscardHandler)
	b := &Balancer{db: db, documents: newDocumentsNews(), log: log}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	all.Go(func() { _ = b.followDocuments(ctx) })
	all.Go(func() { documents.New("m", b, l, log).Run(ctx) })
	has := func(category string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			version, err := l.Version("a")
			if blocks := l.Find("a", version); err == nil && blocks != nil && maps.Equal(blocks.Categories, map[string]struct{}{category: {}}) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("the list of %s does not come", category)
			}
		}
	}
	first := save(0, "first")
	has("first")
	before := db.remember(t)
	second := save(first, "second")
	has("second")
	db.back(before)
	has("first")
	db.back(nil)
	has("second")
	db.back(before)
	has("first")
	db.back(nil)
	has("second")
	again := *before // saved again after the restore
	again.heads = []backend.Document{sealed("a", second, before.data[0])}
	db.back(&again)
	has("first")
}

// sealed is the head of a list's data.
func sealed(list string, version uint64, data []byte) backend.Document {
	d, _ := backend.NewDocument(backend.BlocklistDocument+list, version, data)
	return d
}

// goesBack is a database whose documents can be those of an earlier time.
type goesBack struct {
	backend.Store
	mu     sync.Mutex
	before *earlier // nil: as they are; guarded by mu
}

// earlier is documents as they were.
type earlier struct {
	heads []backend.Document
	data  [][]byte
}

func (g *goesBack) remember(t *testing.T) *earlier {
	t.Helper()
	heads, err := g.Documents(t.Context(), 0, 10)
	e := &earlier{heads: heads}
	for _, d := range heads {
		data, readErr := backend.ReadDocument(t.Context(), d, g.DocumentPart)
		err = errors.Join(err, readErr)
		e.data = append(e.data, data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (g *goesBack) back(to *earlier) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.before = to
}

func (g *goesBack) Documents(ctx context.Context, after uint64, limit int) (list []backend.Document, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.before == nil {
		return g.Store.Documents(ctx, after, limit)
	}
	for _, d := range g.before.heads {
		if d.Version > after {
			list = append(list, d)
		}
	}
	return list, nil
}

func (g *goesBack) DocumentPart(ctx context.Context, name string, version uint64, part int) ([]byte, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.before == nil {
		return g.Store.DocumentPart(ctx, name, version, part)
	}
	for i, d := range g.before.heads {
		if d.Name == name && d.Version == version && part < d.Parts() {
			return backend.PartOf(g.before.data[i], part), nil
		}
	}
	return nil, fault.Newf(fault.NotFound, "test", "no part")
}

// TestManyDocuments are told in several answers.
func TestManyDocuments(t *testing.T) {
	r := newRig(t, 1)
	const all = documentsAtOnce + 3
	for i := range all {
		_, err := r.DB.SaveDocument(t.Context(), fmt.Sprint("x", i), 0, []byte("x"))
		r.Must(err)
	}
	r.start()
	told, after, run := 0, uint64(0), ""
	for more := true; more; {
		reply, err := r.b.WatchDocuments(t.Context(), &pb.WatchDocumentsRequest{Name: "m", After: after, Run: run, WaitMs: 60_000})
		r.Must(err)
		told += len(reply.GetDocuments())
		after, run, more = reply.GetDocuments()[len(reply.GetDocuments())-1].GetVersion(), reply.GetRun(), reply.GetMore()
	}
	if told != all {
		t.Errorf("%d of %d documents were told", told, all)
	}
	if reply, err := r.b.WatchDocuments(t.Context(), &pb.WatchDocumentsRequest{Name: "m", After: after, Run: run, WaitMs: 1}); err != nil || len(reply.GetDocuments()) > 0 {
		t.Errorf("%v, %v", reply, err)
	}
}

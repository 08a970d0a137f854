package documentserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/blocklist"
	"adshard/fault"
	"adshard/internal/node/documents"
	"adshard/internal/node/documentserver"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRestoredDocuments: a database without the newest document was restored, although its clock is the same. Followers get the documents
// that it has, including where a version that they had comes with other data, or where a version is lower.
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
	db, l, log := &goesBack{Store: store, why: fault.NotFound}, new(documents.Lists), slog.New(slog.DiscardHandler)
	s := documentserver.New(db, "its id", log)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	all.Go(func() { _ = s.Run(ctx) })
	all.Go(func() { documents.New("m", func() string { return "its id" }, s, l, log).Run(ctx) })
	has := func(category string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			version, err := l.Version("a")
			if blocks := l.Find("a", version); err == nil && blocks != nil && slices.Equal(blocks.Categories.List(), []string{category}) {
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

// sealed returns the head for a list's data.
func sealed(list string, version uint64, data []byte) backend.Document {
	d, _ := backend.NewDocument(backend.BlocklistDocument+list, version, data)
	return d
}

// goesBack is a database whose documents can be reset to those of an earlier time.
type goesBack struct {
	backend.Store
	mu     sync.Mutex
	before *earlier   // nil for the current documents; guarded by mu
	why    fault.Kind // the error for parts of earlier documents that are not there
}

// earlier is an earlier state of the documents.
type earlier struct {
	heads []backend.Document
	data  [][]byte // if shorter than heads, the last documents cannot be read
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
		if d.Name == name && d.Version == version && part < d.Parts() && i < len(g.before.data) {
			return backend.PartOf(g.before.data[i], part), nil
		}
	}
	return nil, fault.Newf(g.why, "test", "no part")
}

// TestManyDocuments: many documents are sent in several answers.
func TestManyDocuments(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "ads.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	const all = documentserver.AtOnce + 3
	for i := range all {
		if _, err := store.SaveDocument(t.Context(), fmt.Sprint("x", i), 0, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	s := documentserver.New(store, "its id", slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { _ = s.Run(ctx) })
	told, after, run := 0, uint64(0), ""
	for told < all {
		reply, err := s.WatchDocuments(t.Context(), &pb.WatchDocumentsRequest{Name: "m", After: after, Run: run, WaitMs: 60_000})
		if err != nil {
			t.Fatal(err)
		}
		if run = reply.GetRun(); len(reply.GetDocuments()) > 0 {
			told += len(reply.GetDocuments())
			after = reply.GetDocuments()[len(reply.GetDocuments())-1].GetVersion()
		}
		if len(reply.GetDocuments()) > documentserver.AtOnce {
			t.Fatalf("%d documents in an answer", len(reply.GetDocuments()))
		}
	}
	if told != all {
		t.Errorf("%d of %d documents were told", told, all)
	}
	if reply, err := s.WatchDocuments(t.Context(), &pb.WatchDocumentsRequest{Name: "m", After: after, Run: run, WaitMs: 1}); err != nil || len(reply.GetDocuments()) > 0 {
		t.Errorf("%v, %v", reply, err)
	}
}

// TestSmallDocuments: small documents are sent with their data. Documents that are large, exceed the room in an answer or cannot be read
// are sent without, and do not keep others from being sent.
func TestSmallDocuments(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "ads.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	save := func(name string, data []byte) {
		t.Helper()
		if _, err := store.SaveDocument(t.Context(), name, 0, data); err != nil {
			t.Fatal(err)
		}
	}
	save("large", bytes.Repeat([]byte("x"), 64<<10+1))
	for i := range 20 {
		save(fmt.Sprint("small", i), bytes.Repeat([]byte{byte(i)}, 64<<10))
	}
	db := &goesBack{Store: store}
	s := documentserver.New(db, "its id", slog.New(slog.DiscardHandler))
	watch := func() []*pb.Document {
		t.Helper()
		reply, err := s.WatchDocuments(t.Context(), &pb.WatchDocumentsRequest{Name: "m"})
		if err != nil {
			t.Fatal(err)
		}
		return reply.GetDocuments()
	}
	with := 0
	for _, d := range watch() {
		if d.GetData() == nil {
			continue
		}
		with++
		if head := wire.ToDocument(d); head.Name == "large" || head.Verify(d.GetData()) != nil {
			t.Errorf("%s has %d bytes", head.Name, len(d.GetData()))
		}
	}
	if with != 16 {
		t.Errorf("%d documents of 64 KiB in an answer", with)
	}
	readable := []byte("x")
	db.back(&earlier{heads: []backend.Document{sealed("a", 1, readable), sealed("b", 2, readable)}, data: [][]byte{readable}})
	for _, why := range []fault.Kind{fault.NotFound, fault.Corrupt} {
		db.why = why
		if list := watch(); len(list) != 2 || string(list[0].GetData()) != "x" || list[1].GetData() != nil {
			t.Errorf("%v: %v", why, list)
		}
	}
}

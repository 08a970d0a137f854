package documents

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/places"
	"adshard/schema/pb"
)

// database is a balancer with documents in memory.
type database struct {
	mu      sync.Mutex
	run     string
	at      uint64
	heads   map[string]backend.Document
	data    map[string][]byte
	id      string
	calls   int // number of calls for parts
	limit   int
	failing error             // of calls for parts
	onPart  func(r *database) // called before a part is read, with the lock held
	whole   bool              // documents are sent with their data
	spoilt  bool              // those data are damaged on their way
}

func newDatabase() *database {
	return &database{run: "a", heads: map[string]backend.Document{}, data: map[string][]byte{}, limit: 100}
}

// anyDatabase is the database id of a process without data.
func anyDatabase() string { return "" }

// save sets the text of a document, or removes the document if `text` is nil.
func (b *database) save(name string, text *string) {
	b.at++
	var data []byte
	if text != nil {
		data = backend.PackDocument(*text)
	}
	d, err := backend.NewDocument(name, b.at, data)
	if err != nil {
		panic(err)
	}
	b.heads[name], b.data[name] = d, data
}

func (b *database) WatchDocuments(_ context.Context, r *pb.WatchDocumentsRequest) (*pb.WatchDocumentsResponse, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	after := r.GetAfter()
	if r.GetRun() != b.run {
		after = 0
	}
	var list []backend.Document
	for _, d := range b.heads {
		if d.Version > after {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(x, y backend.Document) int { return int(x.Version) - int(y.Version) })
	more := len(list) > b.limit
	documents := wire.FromDocuments(list[:min(b.limit, len(list))])
	for _, d := range documents {
		if b.whole {
			d.Data = b.data[d.Name]
		}
		if b.spoilt {
			d.Data = append([]byte{1}, d.Data[1:]...)
		}
	}
	return &pb.WatchDocumentsResponse{Run: b.run, Documents: documents, More: more, Database: b.id}, nil
}

func (b *database) DocumentPart(_ context.Context, r *pb.DocumentPartRequest) (*pb.DocumentPartResponse, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	if b.onPart != nil {
		f := b.onPart
		b.onPart = nil
		f(b)
	}
	d := b.heads[r.GetDocument()]
	if b.failing != nil {
		return nil, b.failing
	}
	if d.Version != r.GetVersion() || int(r.GetPart()) >= d.Parts() {
		return nil, fault.Newf(fault.NotFound, "test", "no part %d", r.GetPart())
	}
	return &pb.DocumentPartResponse{Data: backend.PartOf(b.data[d.Name], int(r.GetPart()))}, nil
}

// kept is a keeper of texts.
type kept struct {
	texts   map[string]string
	known   int
	damaged []string // names of damaged documents, as reported
}

func (k *kept) Wants(name string) bool { return name != "other" }
func (k *kept) Put(d backend.Document, data []byte) error {
	text, err := backend.UnpackDocument(data)
	if err != nil {
		return err
	}
	if text == "damaged" {
		return fault.Newf(fault.Corrupt, "test", "damaged")
	}
	k.texts[d.Name] = text
	return nil
}
func (k *kept) Unread(name string) { k.damaged = append(k.damaged, name) }
func (k *kept) Drop(name string)   { delete(k.texts, name) }
func (k *kept) Known()             { k.known++ }

func follow(b *database) (*Follower, *kept) {
	k := &kept{texts: map[string]string{}}
	return New("m", anyDatabase, b, k, slog.New(slog.DiscardHandler)), k
}

func TestFollow(t *testing.T) {
	b := newDatabase()
	f, k := follow(b)
	poll := func(want string) {
		t.Helper()
		if err := f.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(k.texts); got != "map["+want+"]" {
			t.Fatalf("%s, not %s", got, want)
		}
	}
	poll("")
	b.save("x", new("1"))
	b.save("y", new("2"))
	b.save("other", new("3"))
	poll("x:1 y:2")
	b.save("x", new("4"))
	b.save("y", nil)
	poll("x:4")
	b.save("y", new("5"))
	poll("x:4 y:5")
	calls := b.calls
	poll("x:4 y:5")
	b.run = "b" // another balancer leads: nothing has changed
	poll("x:4 y:5")
	if b.calls != calls {
		t.Errorf("%d parts were fetched again", b.calls-calls)
	}
	b.run, b.at = "c", 1 // with a restored database
	delete(b.heads, "y")
	b.save("x", new("restored"))
	b.save("z", new("6"))
	poll("x:restored z:6")
	if k.known != 3 {
		t.Errorf("all were known %d times", k.known)
	}
}

// TestAnotherDatabase: a balancer that uses another database by mistake neither removes documents nor adds any.
func TestAnotherDatabase(t *testing.T) {
	b, own := newDatabase(), ""
	k := &kept{texts: map[string]string{}}
	f := New("m", func() string { return own }, b, k, slog.New(slog.DiscardHandler))
	b.id = "theirs"
	b.save("x", new("1"))
	if err := f.poll(t.Context()); err != nil || k.texts["x"] != "1" {
		t.Fatalf("without data: %v, %v", err, k.texts)
	}
	own = "theirs"
	b.save("x", new("2"))
	if err := f.poll(t.Context()); err != nil || k.texts["x"] != "2" {
		t.Fatalf("the same database: %v, %v", err, k.texts)
	}
	other := newDatabase()
	other.id, other.run = "other", "other"
	other.save("y", new("3"))
	f.source = other
	for range 2 {
		if err := f.poll(t.Context()); !fault.Is(err, fault.Conflict) || fmt.Sprint(k.texts) != "map[x:2]" {
			t.Fatalf("another database: %v, %v", err, k.texts)
		}
	}
	f.source = b
	b.save("x", new("4"))
	if err := f.poll(t.Context()); err != nil || fmt.Sprint(k.texts) != "map[x:4]" {
		t.Fatalf("and the right one again: %v, %v", err, k.texts)
	}
}

// TestFollowMany: heads arrive in several messages. No document is dropped, and the state does not count as known, before the last message.
func TestFollowMany(t *testing.T) {
	b := newDatabase()
	f, k := follow(b)
	for i := range 5 {
		b.save(fmt.Sprint(i), new("a"))
	}
	b.limit = 2
	for i, want := range []int{2, 4, 5} {
		if err := f.poll(t.Context()); err != nil || len(k.texts) != want || k.known != i/2 {
			t.Fatalf("%v, %v, known %d", err, k.texts, k.known)
		}
	}
	b.run = "b"
	for range 3 {
		if err := f.poll(t.Context()); err != nil || len(k.texts) != 5 {
			t.Fatalf("%v, %v", err, k.texts)
		}
	}
}

// TestFollowReplaced: a document that is replaced while it is fetched is fetched again. The previous one stays until then.
func TestFollowReplaced(t *testing.T) {
	b := newDatabase()
	f, k := follow(b)
	b.save("x", new("old"))
	if err := f.poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.save("x", new("gone"))
	b.onPart = func(b *database) { b.save("x", new("new")) }
	if err := f.poll(t.Context()); err != nil || k.texts["x"] != "old" {
		t.Fatalf("%v, %v", err, k.texts)
	}
	if err := f.poll(t.Context()); err != nil || k.texts["x"] != "new" {
		t.Fatalf("%v, %v", err, k.texts)
	}
}

// TestFollowReplacedAllTheTime: documents that are sent with their data arrive, although each is replaced before its parts could be
// requested.
func TestFollowReplacedAllTheTime(t *testing.T) {
	b := newDatabase()
	b.whole = true
	f, k := follow(b)
	for i := range 5 {
		text := fmt.Sprint(i)
		b.save("x", &text)
		b.onPart = func(b *database) { b.save("x", new("replaced")) }
		if err := f.poll(t.Context()); err != nil || k.texts["x"] != text || b.calls > 0 {
			t.Fatalf("%v, %v, %d parts", err, k.texts, b.calls)
		}
	}
	b.save("x", new("damaged on its way"))
	b.spoilt, b.onPart = true, nil
	if err := f.poll(t.Context()); err != nil || k.texts["x"] != "damaged on its way" || b.calls != 1 {
		t.Fatalf("%v, %v, %d parts", err, k.texts, b.calls)
	}
}

// TestReplacedIsNotAskedForAgain: a document that was replaced while it was fetched can no longer be read, so only its replacement is
// fetched.
func TestReplacedIsNotAskedForAgain(t *testing.T) {
	b := newDatabase()
	f, k := follow(b)
	b.save("x", new("gone"))
	b.onPart = func(b *database) { b.save("x", new("new")) }
	for range 3 {
		if err := f.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if k.texts["x"] != "new" || b.calls != 2 {
		t.Errorf("%v after %d calls for parts", k.texts, b.calls)
	}
}

// TestFollowFails: when the balancer does not answer, the documents stay and the same ones are requested again.
func TestFollowFails(t *testing.T) {
	b := newDatabase()
	f, k := follow(b)
	b.save("x", new("old"))
	if err := f.poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.save("x", new("new"))
	b.failing = fault.Newf(fault.Unavailable, "test", "away")
	if err := f.poll(t.Context()); !fault.Is(err, fault.Unavailable) || k.texts["x"] != "old" {
		t.Fatalf("%v, %v", err, k.texts)
	}
	b.failing = nil
	if err := f.poll(t.Context()); err != nil || k.texts["x"] != "new" {
		t.Fatalf("%v, %v", err, k.texts)
	}
}

// TestFollowDamaged: a document that cannot be read does not delay others. It is reported, and read again until it can be read, is replaced
// or is removed. Its previous version stays.
func TestFollowDamaged(t *testing.T) {
	b := newDatabase()
	f, k := follow(b)
	poll := func(want string, damaged ...string) {
		t.Helper()
		k.damaged = nil
		if err := f.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		trouble := strings.Join(f.Trouble(), "; ")
		for _, name := range damaged {
			if !strings.Contains(trouble, name+" cannot be read") {
				t.Errorf("it is told: %q", trouble)
			}
		}
		if got := fmt.Sprint(k.texts); got != "map["+want+"]" || len(f.Trouble()) != len(damaged) {
			t.Fatalf("%s with %q, not %s", got, trouble, want)
		}
	}
	b.save("x", new("old"))
	poll("x:old")
	b.save("x", new("damaged"))
	b.save("y", new("damaged"))
	b.save("z", new("3"))
	poll("x:old z:3", "x", "y")
	if fmt.Sprint(k.damaged) != "[x y]" || k.known != 1 {
		t.Errorf("the keeper was told of %v, and %d times that all are here", k.damaged, k.known)
	}
	b.save("z", new("4"))
	poll("x:old z:4", "x", "y")
	b.save("x", new("new"))
	poll("x:new z:4", "y")
	b.save("y", nil)
	poll("x:new z:4")

	// An answer is damaged on its way, and the next one is not.
	b.save("x", new("newer"))
	d := b.heads["x"]
	data := b.data["x"]
	b.data["x"] = append([]byte{1}, data[1:]...)
	poll("x:new z:4", "x")
	b.data["x"] = data
	poll("x:newer z:4")

	// The documents are damaged, and a restored database has never had one of them and has another version of the other.
	b.save("z", new("damaged"))
	b.save("y", new("damaged"))
	poll("x:newer z:4", "y", "z")
	delete(b.heads, "y")
	delete(b.heads, "z")
	b.run, b.at = "b", d.Version-1
	b.save("x", new("restored")) // with its previous version
	poll("x:restored")
}

func TestPlaces(t *testing.T) {
	b := newDatabase()
	p := new(Places)
	f := New("m", anyDatabase, b, p, slog.New(slog.DiscardHandler))
	if p.Table() != nil {
		t.Error("a table before the balancer has answered")
	}
	poll := func(want string) {
		t.Helper()
		if err := f.poll(t.Context()); err != nil || p.Table().Version() != want {
			t.Errorf("%v, %v", err, p.Table().Version())
		}
	}
	poll(places.Countries().Version())
	table, _ := places.Countries().With([]places.Row{{ID: 1, Name: "a", Parent: 2203}})
	b.save(backend.PlacesDocument, new(table.Text()))
	poll(table.Version())
	before := p.Table()
	b.save(backend.PlacesDocument, new("damaged"))
	if err := f.poll(t.Context()); err != nil || p.Table() != before || len(f.Trouble()) != 1 {
		t.Error(err)
	}
	b.save(backend.PlacesDocument, nil)
	poll(places.Countries().Version())
}

// TestPlacesReplacedAtOnce: if the first table is replaced while a process reads it, there is no table for a moment. The built-in table
// does not take its place, because places would lack their parents. For a restored database without a table, it does.
func TestPlacesReplacedAtOnce(t *testing.T) {
	b := newDatabase()
	p := new(Places)
	f := New("m", anyDatabase, b, p, slog.New(slog.DiscardHandler))
	first, _ := places.Countries().With([]places.Row{{ID: 1, Name: "a", Parent: 2203}})
	second, _ := places.Countries().With([]places.Row{{ID: 1, Name: "b", Parent: 2203}})
	b.save(backend.PlacesDocument, new(first.Text()))
	b.onPart = func(b *database) { b.save(backend.PlacesDocument, new(second.Text())) }
	if err := f.poll(t.Context()); err != nil || p.Table() != nil || len(f.Trouble()) > 0 {
		t.Fatalf("%v, %v", err, p.Table())
	}
	if err := f.poll(t.Context()); err != nil || p.Table().Version() != second.Version() {
		t.Fatalf("%v, %v", err, p.Table())
	}
	p = new(Places)
	f = New("m", anyDatabase, b, p, slog.New(slog.DiscardHandler))
	b.onPart = func(b *database) { b.save(backend.PlacesDocument, new(first.Text())) }
	if err := f.poll(t.Context()); err != nil || p.Table() != nil {
		t.Fatalf("%v, %v", err, p.Table())
	}
	b.run = "restored"
	clear(b.heads)
	if err := f.poll(t.Context()); err != nil || p.Table() != places.Countries() {
		t.Fatalf("%v, %v", err, p.Table())
	}
}

// TestDamagedPlaces: the built-in table does not replace a table that cannot be read.
func TestDamagedPlaces(t *testing.T) {
	b := newDatabase()
	p := new(Places)
	f := New("m", anyDatabase, b, p, slog.New(slog.DiscardHandler))
	b.save(backend.PlacesDocument, new("damaged"))
	for range 2 {
		if err := f.poll(t.Context()); err != nil || p.Table() != nil {
			t.Fatalf("%v, %v", err, p.Table())
		}
	}
	b.save(backend.PlacesDocument, nil)
	if err := f.poll(t.Context()); err != nil || p.Table() != places.Countries() {
		t.Errorf("%v, %v", err, p.Table())
	}
}

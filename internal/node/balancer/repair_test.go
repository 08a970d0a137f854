package balancer

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"adshard/backend"
	"adshard/barrels"
	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/barrels/memory"
	"adshard/barrels/rocks"
	"adshard/fault"
	"adshard/internal/node/fanout"
	"adshard/internal/node/identity"
	"adshard/schema/fb"
	"adshard/schema/pb"
)

// newScrubbed returns a world in which a scrub takes half a second.
func newScrubbed(t *testing.T, slaves int) *world {
	return newWorld(t, slaves, func(c *Config) { c.ScrubInterval, c.ScrubShare = 500*time.Millisecond, 1 })
}

// repairs waits until a slave has begun to repair something. Its slices may be repaired before a test could see which ones are
// missing, so the count is what it waits for.
func (w *world) repairs(name string) {
	w.T.Helper()
	w.eventually("a repair", func() bool { return w.nodes[name].s.State().Repairs > 0 })
}

// healed waits until no slice is missing and answers are complete.
func (w *world) healed() {
	w.T.Helper()
	defer func() {
		for name, n := range w.nodes {
			if w.T.Failed() {
				w.T.Log(name, n.s.State(), n.s.Ready(), adminControl{w.b}.ready())
			}
		}
	}()
	w.eventually("healed", func() bool {
		for _, n := range w.nodes {
			if n.s.State().WhyIncomplete != "" || len(n.s.Ready()) > 0 {
				return false
			}
		}
		return w.complete() && len(adminControl{w.b}.ready()) == 0
	})
}

// tampered changes postings of a running store and keeps all checksums correct, so no search can detect that they are wrong.
func tampered(t testing.TB, db kv.DB) {
	t.Helper()
	s := db.Snapshot()
	it := s.Full(kv.Postings)
	var b kv.Batch
	for ok := it.Seek(nil); ok; ok = it.Next() {
		v := append([]byte(nil), it.Value()[:len(it.Value())-9]...)
		var view block.View
		if view.Open(it.Value()) != nil {
			t.Fatal("the block cannot be read")
		}
		root, p := fb.GetRootAsBlock(v, 0), fb.Posting{}
		if root.Postings(&p, root.PostingsLength()-1) && p.MutateBid(p.Bid()+1) {
			b.Put(kv.Postings, it.Key(), block.Seal(v))
		}
	}
	it.Close()
	s.Close()
	if b.Len() == 0 {
		t.Fatal("nothing to tamper with")
	}
	if err := db.Write(&b); err != nil {
		t.Fatal(err)
	}
}

// tamperedSlave starts a slave "wrong", moves a slice there, and starts it again with changed postings of the slice. It returns
// the slice's id.
func (w *world) tamperedSlave() uint64 {
	w.T.Helper()
	kv := memory.NewDB()
	store, err := barrels.Open(kv, barrels.Options{Name: "wrong"})
	w.Must(err)
	w.add("wrong", store)
	w.eventually("joined", func() bool { _, ok := w.model().Named("wrong"); return ok })
	slice := w.on("slave-0")[0]
	w.move(slice, "wrong")
	w.eventually("moved", w.still)
	w.healed()
	w.nodes["wrong"].stop()
	w.Must(store.Close())
	tampered(w.T, kv)
	store, err = barrels.Open(kv, barrels.Options{Name: "wrong"})
	w.Must(err)
	n := w.nodes["wrong"]
	n.store, w.slaves["wrong"].store = store, store
	w.begin(n)
	return slice
}

// TestADamagedSourceOfAMoveIsRefilled: without scrubs, a move finds that its only source is wrong and is cancelled. The source
// is filled again without help, and then the slice moves.
func TestADamagedSourceOfAMoveIsRefilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, func(c *Config) { c.ScrubInterval = 0 })
	slice := w.tamperedSlave()
	w.eventually("back", w.complete)
	w.move(slice, "slave-0")
	w.repairs("wrong")
	w.eventually("cancelled", w.still)
	if shard, _ := w.model().Named("wrong"); w.slice(slice).Shard != shard.ID {
		t.Error("a slice whose copies were not equal has moved")
	}
	w.healed()
	w.judge()
	w.move(slice, "slave-0")
	w.eventually("moved", w.still)
	if shard, _ := w.model().Named("slave-0"); w.slice(slice).Shard != shard.ID {
		t.Error("the slice has not moved after its source was filled again")
	}
	w.eventually("clean", w.clean)
	w.judge()
}

// TestScrubFindsWhatIsWrong: a slave that holds wrong bids but reports that all is well stops serving them and says why. It is
// filled again and is then correct, and no other slave is affected.
func TestScrubFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := newScrubbed(t, 1)
	w.tamperedSlave()
	w.repairs("wrong")
	w.healed()
	w.judge()
	w.b.mu.Lock()
	defer w.b.mu.Unlock()
	if s := w.b.mapper.Status(w.b.now()).Scrub; s.Differences == 0 {
		t.Errorf("%+v", s)
	}
}

// slaveOn starts a slave whose RocksDB store keeps almost nothing in memory, and moves a slice there.
func (w *world) slaveOn(dir string) *node {
	w.T.Helper()
	store, err := openStore(dir)
	w.Must(err)
	n := w.add("disk", store)
	w.T.Cleanup(func() {
		if n.stop != nil {
			n.stop()
		}
		_ = store.Close()
	})
	w.eventually("joined", func() bool { _, ok := w.model().Named("disk"); return ok })
	w.move(w.on("slave-0")[0], "disk")
	w.eventually("moved", w.still)
	w.healed()
	return n
}

// openStore opens a store that keeps almost nothing in memory.
func openStore(dir string) (barrels.Store, error) {
	db, err := rocks.Open(dir, rocks.Options{CacheBytes: 1 << 9})
	if err != nil {
		return nil, err
	}
	return barrels.Open(db, barrels.Options{Name: "disk", CacheBytes: 1 << 9})
}

// TestFlippedBitsInARunningStoreHeal: bits of table files change under a running slave. Answers are correct or marked
// incomplete, the slave says why, and it recovers without help.
func TestFlippedBitsInARunningStoreHeal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, nil)
	dir := filepath.Join(t.TempDir(), "store")
	n := w.slaveOn(dir)
	n.stop() // closing writes table files
	w.Must(n.store.Close())
	store, err := openStore(dir)
	w.Must(err)
	t.Cleanup(func() {
		if n.stop != nil {
			n.stop()
		}
		_ = store.Close()
	})
	n.store, w.slaves["disk"].store = store, store
	w.begin(n)
	w.eventually("back", w.complete)
	end := w.ask()
	files, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	w.Must(err)
	for _, f := range files {
		flipBits(t, f)
	}
	w.repairs("disk")
	w.healed()
	sum := end()
	if len(sum.wrong) > 0 || sum.complete == 0 || sum.incomplete == 0 {
		t.Errorf("%d complete, %d incomplete, wrong: %q", sum.complete, sum.incomplete, sum.wrong)
	}
	w.judge()
	if n.s.State().Repairs == 0 {
		t.Error("nothing was repaired")
	}
}

// flipBits flips one bit in every few hundred bytes of a file that is in use.
func flipBits(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1)
	for at := int64(50); at < info.Size()-200; at += 300 {
		if _, err := f.ReadAt(b, at); err != nil {
			t.Fatal(err)
		}
		b[0] ^= 1 << rand.IntN(8)
		if _, err := f.WriteAt(b, at); err != nil {
			t.Fatal(err)
		}
	}
}

// TestADeletedStoreDirectoryIsMadeAnew: a slave whose store directory is deleted notices it, says so, and is filled again
// without a restart. Changes continue to be applied.
func TestADeletedStoreDirectoryIsMadeAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, nil)
	dir := filepath.Join(t.TempDir(), "store")
	n := w.slaveOn(dir)
	end := w.ask()
	w.eventually("the directory is removed", func() bool { return os.RemoveAll(dir) == nil }) // the store may write at the same time, so the removal may need several attempts
	w.repairs("disk")
	w.healed()
	if sum := end(); len(sum.wrong) > 0 {
		t.Errorf("wrong: %q", sum.wrong)
	}
	if err := n.store.Present(); err != nil {
		t.Error(err)
	}
	w.Write(30, 4, 4, 2_000_000)
	w.eventually("followed", w.whole)
	w.judge()
}

// TestAnswersSayWhatIsMissing: an answer says which part of the key range is missing. The width and the reason arrive together.
func TestAnswersSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, nil)
	n := w.nodes["slave-1"]
	table := n.store.Slices().Slices
	w.stop() // so that it is not filled again
	w.Must(w.b.call(shortly(t), "slave-1", "test", func(s pb.SlaveClient, incarnation string) error {
		_, err := s.Discard(shortly(t), &pb.DiscardRequest{Lo: table[0].Lo, Hi: table[0].Hi, Generation: table[0].Generation,
			Reason: "a test wants it", Incarnation: incarnation})
		return err
	}))
	seen := false
	if why := n.s.Ready(); len(why) != 1 || !strings.Contains(why[0], "has not been served since 20") {
		t.Errorf("ready: %q", why)
	}
	w.eventually("asked", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		shard := w.watcher.Current()
		for _, s := range shard.Shards {
			a, err := fanout.Ask(ctx, s.Replicas[0].Slave, w.request())
			if err != nil && !fault.Is(err, fault.Stale) && !fault.Is(err, fault.Unavailable) {
				t.Fatal(err)
			}
			if err == nil && s.Name == "slave-1" && a.WhyIncomplete != "" {
				seen = strings.Contains(a.WhyIncomplete, "a test wants it")
			}
			if err == nil && s.Name == "slave-0" && a.WhyIncomplete != "" {
				t.Fatalf("slave-0 lacks %q", a.WhyIncomplete)
			}
		}
		return seen
	})
	w.eventually("incomplete", func() bool { return !w.complete() })
	w.start()
	w.healed()
}

// sick is a database whose reads or writes of the control state can be made to fail.
type sick struct {
	backend.Store
	reading, saving atomic.Bool
}

var errSick = errors.New("disk I/O error")

func (s *sick) Snapshot(ctx context.Context) (backend.Snapshot, error) {
	if s.reading.Load() {
		return nil, fault.New(fault.Corrupt, "sick", errSick)
	}
	return s.Store.Snapshot(ctx)
}

func (s *sick) Changes(ctx context.Context, after backend.Position, limit int) ([]backend.Change, error) {
	if s.reading.Load() {
		return nil, fault.New(fault.Corrupt, "sick", errSick)
	}
	return s.Store.Changes(ctx, after, limit)
}

func (s *sick) SaveControlIf(ctx context.Context, key string, value []byte, guard string, was []byte) error {
	if s.saving.Load() && strings.HasSuffix(key, identity.ModelKey) {
		return fault.New(fault.NoSpace, "sick", errSick)
	}
	return s.Store.SaveControlIf(ctx, key, value, guard, was)
}

// TestABalancerThatCannotReadOrSaveIsNotReady: a balancer that cannot read or save says what fails and since when, and recovers
// without help when the cause is gone.
func TestABalancerThatCannotReadOrSaveIsNotReady(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.Write(4, 2, 2, 1_000_000)
	db := &sick{Store: r.DB}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	r.Must(err)
	r.addr = listener.Addr().String()
	r.b, err = New(t.Context(), r.cfg, db, r.log)
	r.Must(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.b.Serve(ctx, listener) }()
	r.stop = func() { cancel(); r.Must(<-done); r.stop = nil }
	says := func(parts ...string) func() bool {
		return func() bool {
			text := strings.Join(adminControl{r.b}.ready(), "; ")
			for _, p := range parts {
				if !strings.Contains(text, p) {
					return false
				}
			}
			return (len(parts) > 0) == (text != "")
		}
	}
	db.saving.Store(true) // the first plan waits for it
	r.slave("a")
	r.eventually("a model that cannot be saved", says("cannot save the slice model since 20", "disk I/O error"))
	db.reading.Store(true)
	db.saving.Store(false)
	r.eventually("items that cannot be read", says("cannot prepare node data since 20"))
	r.Write(1, 1, 1, 2_000_000)
	r.eventually("changes that cannot be read", says("cannot prepare node data, read the changes of the database since 20"))
	db.reading.Store(false)
	r.eventually("ready", says())
	r.eventually("served", r.whole)
}

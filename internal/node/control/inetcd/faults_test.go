package inetcd_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/control"
	"adshard/internal/node/control/etcdtest"
	"adshard/internal/node/control/inetcd"
	"adshard/internal/node/nodetest"
)

const patience = time.Minute

var (
	a = control.Candidate{Address: "127.0.0.1:7000"}
	b = control.Candidate{Address: "127.0.0.1:8000"}
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within %v: %s", patience, what)
}

// leads campaigns, and then keeps the lease until the test ends. `ended` receives the result of Keep.
func leads(t *testing.T, s control.Store, me control.Candidate) (term control.Term, ended chan error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	term, err := s.Campaign(ctx, me)
	must(t, err)
	ended = make(chan error, 1)
	keeping, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); ended <- term.KeepAlive(keeping, func(error) {}) }()
	t.Cleanup(func() { stop(); <-done })
	return term, ended
}

func save(t *testing.T, term control.Term, value string) error {
	t.Helper()
	return term.Save(t.Context(), "/model", []byte(value))
}

// TestMajorityLost: a leader that has lost etcd's majority saves nothing and stops when its lease expires.
// No other balancer leads until the majority is back; then one does, with everything that was saved.
func TestMajorityLost(t *testing.T) {
	t.Parallel()
	etcd, db := start(t, 3), nodetest.NewDatabase(t).DB
	first, ended := leads(t, open(t, etcd.URL(), db, "c"), a)
	must(t, save(t, first, "before"))
	other := make(chan control.Term, 1)
	campaign, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		if term, err := open(t, etcd.URL(), db, "c").Campaign(campaign, b); err == nil {
			other <- term
		}
		close(other)
	}()
	etcd.Kill(0)
	eventually(t, "one of three is lost, and the leader saves", func() bool { return save(t, first, "with two") == nil })
	etcd.Kill(1)
	if err := save(t, first, "lost"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("saved without a majority: %v", err)
	}
	eventually(t, "the leader stops", func() bool { return !first.Valid() })
	select {
	case term := <-other:
		t.Fatalf("another one leads without a majority: %v", term)
	case <-time.After(short.Lease):
	}
	must(t, etcd.StartAll())
	select {
	case second := <-other:
		if err := <-ended; !fault.Is(err, fault.Conflict) || first.Valid() || second.Epoch() <= first.Epoch() {
			t.Errorf("the other one leads with epoch %d; the first: %v, valid %v", second.Epoch(), err, first.Valid())
		}
		if v, err := second.Load(t.Context(), "/model"); err != nil || string(v) == "before" {
			t.Errorf("it has %q, %v", v, err)
		}
	case <-leadsAgain(t, first):
		must(t, save(t, first, "after"))
	}
}

// leadsAgain returns a channel that is closed as soon as a term is valid.
func leadsAgain(t *testing.T, term control.Term) chan struct{} {
	back := make(chan struct{})
	go func() {
		for t.Context().Err() == nil {
			if term.Valid() {
				close(back)
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	return back
}

// TestRestored: etcd is restored to a backup from the time of an earlier leader. No epoch is used twice, and
// the leader from after the backup cannot write any more.
func TestRestored(t *testing.T) {
	t.Parallel()
	etcd, db := start(t, 1), nodetest.NewDatabase(t).DB
	url := etcd.URL()
	early, _ := leads(t, open(t, url, db, "c"), a)
	must(t, save(t, early, "early"))
	backup, err := etcd.Backup()
	must(t, err)
	var late control.Term
	for range 3 {
		late, err = open(t, url, db, "c").TakeOver(t.Context(), b)
		must(t, err)
	}
	must(t, save(t, late, "late"))
	must(t, etcd.Restore(backup))
	next, err := open(t, url, db, "c").TakeOver(t.Context(), a)
	must(t, err)
	if next.Epoch() <= late.Epoch() {
		t.Errorf("epoch %d after %d", next.Epoch(), late.Epoch())
	}
	for name, err := range map[string]error{
		"saves": save(t, late, "x"), "compacts": late.Compact(t.Context(), 1, 0), "raises": late.Raise(t.Context(), 99),
		"keeps its lease": late.KeepAlive(t.Context(), func(error) {}), "saves, long before": save(t, early, "x"),
	} {
		var replaced *control.Replaced
		if !errors.As(err, &replaced) {
			t.Errorf("the leader of the lost time %s: %v", name, err)
		}
	}
	if v, err := next.Load(t.Context(), "/model"); err != nil || string(v) != "early" {
		t.Errorf("%q, %v", v, err)
	}
	must(t, save(t, next, "next"))
}

// TestRevisionsRepeat: a leader wakes up while another one leads in an etcd that was emptied or restored, so
// that its revisions repeat earlier ones. The first leader overwrites nothing and does not end the
// leadership of the other.
func TestRevisionsRepeat(t *testing.T) {
	t.Parallel()
	for name, backup := range map[string]func(*etcdtest.Cluster) (string, error){
		"emptied": func(*etcdtest.Cluster) (string, error) {
			dir := t.TempDir()
			return dir, os.MkdirAll(filepath.Join(dir, "etcd-0"), 0o700)
		},
		"restored": (*etcdtest.Cluster).Backup,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			etcd, db := start(t, 1), nodetest.NewDatabase(t).DB
			dir, err := backup(etcd)
			must(t, err)
			first, err := open(t, etcd.URL(), db, "c").TakeOver(t.Context(), a)
			must(t, err)
			must(t, save(t, first, "first"))
			must(t, etcd.Restore(dir))
			second, err := open(t, etcd.URL(), db, "c").TakeOver(t.Context(), b)
			must(t, err)
			must(t, save(t, second, "second"))
			for name, err := range map[string]error{"saves": save(t, first, "late"), "resigns": first.Resign(t.Context())} {
				if !fault.Is(err, fault.Conflict) {
					t.Errorf("the first %s: %v", name, err)
				}
			}
			if v, err := second.Load(t.Context(), "/model"); string(v) != "second" {
				t.Errorf("the model is %q, %v", v, err)
			}
			must(t, save(t, second, "again"))
		})
	}
}

// hung is a database that can be made to hang when it is read. Each such read is announced on `reads`.
type hung struct {
	backend.Store
	hangs atomic.Bool
	reads chan struct{}
}

func (h *hung) LoadControl(ctx context.Context, key string) ([]byte, error) {
	if !h.hangs.Load() {
		return h.Store.LoadControl(ctx, key)
	}
	select {
	case h.reads <- struct{}{}:
		<-ctx.Done()
	case <-ctx.Done():
	}
	return nil, fault.New(fault.Deadline, "hung", ctx.Err())
}

// TestTheDatabaseHangs: a leader continues to renew its lease in etcd while the database hangs, although
// each check of the epoch would last as long as its context allows, here a lease of ten minutes.
func TestTheDatabaseHangs(t *testing.T) {
	t.Parallel()
	db := &hung{Store: nodetest.NewDatabase(t).DB, reads: make(chan struct{})}
	times := control.Times{Lease: 10 * time.Minute, Renew: 20 * time.Millisecond, Poll: 20 * time.Millisecond}
	s, err := inetcd.Open(start(t, 1).URL(), inetcd.TLS{}, db, "c", times, unmarked)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	term, _ := leads(t, s, a)
	db.hangs.Store(true)
	for range 3 { // each read follows a renewal
		select {
		case <-db.reads:
		case <-time.After(patience):
			t.Fatal("the lease is not renewed")
		}
	}
	if !term.Valid() {
		t.Error("the lease is over")
	}
}

// TestTheDatabaseIsMarkedFirst: the database is marked before the epoch of a term is saved, and no term
// begins without the mark.
func TestTheDatabaseIsMarkedFirst(t *testing.T) {
	t.Parallel()
	db, broken := nodetest.NewDatabase(t).DB, true
	var epochs []uint64
	s, err := inetcd.Open(start(t, 1).URL(), inetcd.TLS{}, db, "c", short, func(ctx context.Context) error {
		epoch, _, err := control.Epoch(ctx, db, "c")
		if epochs = append(epochs, epoch); broken {
			err = fault.Newf(fault.Unavailable, "mark", "broken")
		}
		return err
	})
	must(t, err)
	defer s.Close()
	if _, err := s.TakeOver(t.Context(), a); !fault.Is(err, fault.Unavailable) {
		t.Errorf("without a mark: %v", err)
	}
	broken = false
	term, err := s.TakeOver(t.Context(), a)
	must(t, err)
	if len(epochs) != 2 || epochs[0] != 0 || epochs[1] != 0 || term.Epoch() != 1 {
		t.Errorf("marked at epochs %d, then epoch %d", epochs, term.Epoch())
	}
}

// TestTwoEtcds: a leader still uses the old etcd while another one leads with a restored copy. The first
// leader gets an error for everything that it tries to save.
func TestTwoEtcds(t *testing.T) {
	t.Parallel()
	db := nodetest.NewDatabase(t).DB
	before, _ := leads(t, open(t, start(t, 1).URL(), db, "c"), a)
	after, err := open(t, start(t, 1).URL(), db, "c").TakeOver(t.Context(), b)
	must(t, err)
	if err := save(t, before, "x"); !fault.Is(err, fault.Conflict) {
		t.Errorf("the first saves: %v", err)
	}
	must(t, save(t, after, "y"))
	eventually(t, "the first stops", func() bool { return !before.Valid() })
}

// TestManySlices: a model with 100,000 slices can be saved and read.
func TestManySlices(t *testing.T) {
	t.Parallel()
	const slices = 100_000
	term, _ := leads(t, open(t, start(t, 1).URL(), nodetest.NewDatabase(t).DB, "c"), a)
	state := balance.State{Model: modelOf(t, slices)}
	encoded := state.Encode()
	if len(encoded) < 1<<20 {
		t.Errorf("only %d bytes", len(encoded))
	}
	began := time.Now()
	must(t, term.Save(t.Context(), "/model", encoded))
	saved := time.Since(began)
	value, err := term.Load(t.Context(), "/model")
	must(t, err)
	got, err := balance.DecodeState(value)
	if err != nil || len(got.Model.Slices()) != slices {
		t.Errorf("%v", err)
	}
	t.Logf("%d bytes saved in %v, both in %v", len(encoded), saved, time.Since(began))
}

// TestURLs: invalid URLs are refused.
func TestURLs(t *testing.T) {
	for url, ok := range map[string]bool{
		"etcd://h:2379": true, "etcd://h1:2379,10.0.0.1:2379/p/q": true, "etcd://[::1]:2379/": true,
		"": false, "etcd://": false, "etcd://h": false, "http://h:1": false, "etcd://u:p@h:1": false, "etcd://h:1,": false, "etcd://h:1?x=y": false,
	} {
		if _, _, err := inetcd.Parse(url); ok != (err == nil) || !ok && !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// modelOf returns a model of the given number of slices.
func modelOf(t *testing.T, slices int) *balance.Model {
	t.Helper()
	base, err := balance.NewModel([]balance.Shard{{Name: "a"}, {Name: "b"}})
	must(t, err)
	e, last := base.Edit(), base.Slices()[0].ID
	for i := 1; i < slices; i++ {
		must(t, e.Map(last, base.Shards()[i%2].ID))
		last, err = e.Split(last, balance.Key(i)*(balance.MaxKey/balance.Key(slices)))
		must(t, err)
	}
	must(t, e.Map(last, base.Shards()[0].ID))
	m, err := e.Model()
	must(t, err)
	return m
}

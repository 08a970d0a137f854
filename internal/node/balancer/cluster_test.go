package balancer

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adshard/backend"
	"adshard/balance"
	"adshard/balance/mapper"
	"adshard/barrels"
	"adshard/barrels/barreltest"
	"adshard/internal/node/fanout"
	"adshard/internal/node/home"
	"adshard/internal/node/overload"
	"adshard/internal/node/ports"
	"adshard/internal/node/remote"
	"adshard/internal/node/slave"
	"adshard/internal/node/wire"
	"adshard/internal/oracle"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

// world is a rig whose slaves answer searches over gRPC, with a master.
type world struct {
	*rig
	nodes   map[string]*node
	watcher *fanout.Watcher
	master  *fanout.Fanout
	want    []wanted
	heard   ear
	writes  int
	refused error // result of the last command
}

// ear keeps the log lines of a balancer.
type ear struct {
	mu    sync.Mutex
	texts []string // under mu
}

func (e *ear) Enabled(context.Context, slog.Level) bool { return true }
func (e *ear) WithAttrs([]slog.Attr) slog.Handler       { return e }
func (e *ear) WithGroup(string) slog.Handler            { return e }
func (e *ear) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	e.mu.Lock()
	defer e.mu.Unlock()
	e.texts = append(e.texts, text)
	return nil
}

// said reports whether one of the log lines contains all of these texts.
func (e *ear) said(parts ...string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.texts, func(text string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) })
	})
}

// node is a slave that can be killed and started again.
type node struct {
	cfg   slave.Config
	store barrels.Store
	s     *slave.Slave
	stop  func()
}

// newWorld starts a balancer, slaves and a master on a database with some groups, and waits until a
// complete answer is possible. `change` may change the balancer's configuration.
func newWorld(t *testing.T, slaves int, change func(*Config)) *world {
	t.Helper()
	w := &world{rig: newRig(t, slaves), nodes: make(map[string]*node)}
	w.cfg.Interval, w.cfg.Linger, w.cfg.MasterLease = 0, 50*time.Millisecond, 2*time.Second
	w.cfg.DeadAfter, w.cfg.EvacuateAfter = time.Second, 0
	w.log = slog.New(&w.heard)
	if change != nil {
		change(&w.cfg)
	}
	w.Write(30, 4, 4, 1_000_000)
	w.start()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w.refused, "\n"+strings.Join(w.heard.texts, "\n"))
		}
		for _, n := range w.nodes {
			if n.stop != nil {
				n.stop()
			}
		}
	})
	for i := range slaves {
		w.add(home.StoreName(i), barreltest.InMemory(t, home.StoreName(i)))
	}
	w.watch(w.addr)
	w.eventually("complete", w.complete)
	w.judge()
	return w
}

// add starts a slave with a store.
func (w *world) add(name string, store barrels.Store) *node {
	w.T.Helper()
	n := &node{cfg: slave.DefaultConfig(), store: store}
	n.cfg.Name, n.cfg.Listen, n.cfg.Admin, n.cfg.Balancer = name, "127.0.0.1:0", "", w.addr
	n.cfg.Dir, n.cfg.BucketBytes, n.cfg.LoadCounted = w.T.TempDir(), 16<<10, 1_000_000
	w.nodes[name] = n
	w.slaves[name] = &slaveRig{store: store}
	w.begin(n)
	return n
}

// begin starts a slave that is not running.
func (w *world) begin(n *node) {
	w.T.Helper()
	port, err := ports.Open(nil, "")
	w.Must(err)
	n.s, err = slave.New(n.cfg, n.store, overload.New(overload.ForSlave(n.cfg.MaxInFlight)), port, slog.New(slog.DiscardHandler))
	w.Must(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.s.Run(ctx) }()
	n.stop = func() {
		cancel()
		if err := <-done; err != nil {
			w.T.Error(err)
		}
		n.stop = nil
	}
}

// streams is the dialer by which masters reach slaves.
var streams = fanout.Streams(words.Default, nil, slog.New(slog.DiscardHandler))

// watch starts a master that asks a balancer at an address.
func (w *world) watch(address string) {
	w.T.Helper()
	conn, err := wire.Dial(address)
	w.Must(err)
	w.watcher = fanout.NewWatcher("master/"+rand.Text(), remote.Balancer{Conn: conn}, nil, streams, slog.New(slog.DiscardHandler))
	w.master = fanout.New(w.watcher, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.watcher.Run(ctx) }()
	w.T.Cleanup(func() {
		cancel()
		<-done
		w.watcher.Close()
		_ = conn.Close()
	})
}

// judge compares the cluster's answers with the oracle of the present database, and keeps them. As
// long as nothing changes that they show, the answers must stay the same.
func (w *world) judge() {
	w.T.Helper()
	snap, err := w.DB.Snapshot(w.T.Context())
	w.Must(err)
	defer snap.Close()
	advertisers, err := snap.Advertisers(w.T.Context(), nil)
	w.Must(err)
	campaigns, err := snap.Campaigns(w.T.Context(), nil)
	w.Must(err)
	var items []*backend.Item
	for it, err := range snap.All(w.T.Context()) {
		w.Must(err)
		items = append(items, it)
	}
	o, err := oracle.New(advertisers, campaigns, items, nil)
	w.Must(err)
	w.want = nil
	for k := range 3 {
		for g := range 3 {
			r := oracle.Request{Text: fmt.Sprintf("word%d usb%d cable", k, g), Profile: search.DefaultProfile(), Slots: 4,
				Reserve: 10_000, Variants: search.Synonym}
			barreltest.SameAnswer(w.T, w.master, o, r, nil)
			q := barreltest.Request(w.T, r, nil)
			q.ExactCounts = true
			ctx, cancel := context.WithTimeout(w.T.Context(), time.Second)
			a, err := w.master.Search(ctx, q)
			cancel()
			w.Must(err)
			w.want = append(w.want, wanted{q, r.Text, a})
		}
	}
}

// wanted is a query and its answer.
type wanted struct {
	q    *search.Request
	text string
	a    *search.Answer
}

func (w *world) complete() bool {
	ctx, cancel := context.WithTimeout(w.T.Context(), time.Second)
	defer cancel()
	a, err := w.master.Search(ctx, w.request())
	return err == nil && a.Width == search.WholeRing() && len(a.Missing) == 0
}

// asked holds the results of asking continuously.
type asked struct {
	mu                   sync.Mutex
	complete, incomplete int            // under mu
	wrong                []string       // under mu
	missing              map[string]int // the number of incomplete answers by reason; under mu
}

// ask asks continuously until the returned function is called, and compares each complete answer
// with the right one.
func (w *world) ask() (end func() *asked) {
	sum := &asked{missing: make(map[string]int)}
	over := make(chan struct{})
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			for n := i; ; n++ {
				select {
				case <-over:
					return
				case <-time.After(2 * time.Millisecond):
				}
				w.once(sum, w.want[n%len(w.want)])
			}
		})
	}
	stop := sync.OnceFunc(func() { close(over); all.Wait() })
	w.T.Cleanup(stop)
	return func() *asked {
		stop()
		w.once(sum, w.want[0]) // so that the state that was awaited is asked, too
		return sum
	}
}

// once asks one query.
func (w *world) once(sum *asked, want wanted) {
	// This is enough for a slow machine: an answer that comes late lacks the data of slaves.
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	a, err := w.master.Search(ctx, want.q)
	sum.mu.Lock()
	defer sum.mu.Unlock()
	switch {
	case err != nil:
		sum.incomplete++
		sum.missing[err.Error()]++
	case a.Width != search.WholeRing() || len(a.Missing) > 0:
		sum.incomplete++
		sum.missing[fmt.Sprintf("view %d: %v, width %v", a.View, a.Missing, a.Width)]++
	default:
		sum.complete++
		if a.Matched != want.a.Matched || a.Candidates != want.a.Candidates || !reflect.DeepEqual(a.Hits, want.a.Hits) {
			sum.wrong = append(sum.wrong, fmt.Sprintf("%q in view %d: matched %d, candidates %d, hits %v; want %d, %d, %v",
				want.text, a.View, a.Matched, a.Candidates, keywords(a), want.a.Matched, want.a.Candidates, keywords(want.a)))
		}
	}
}

func keywords(a *search.Answer) (ids []uint64) {
	for i := range a.Hits {
		ids = append(ids, a.Hits[i].Keyword)
	}
	return ids
}

// all checks that every answer was complete and right.
func (a *asked) all(t *testing.T) {
	t.Helper()
	a.right(t)
	if a.incomplete > 0 {
		for _, why := range slices.Sorted(maps.Keys(a.missing)) {
			t.Errorf("%d incomplete: %s", a.missing[why], why)
		}
	}
}

// right checks that every complete answer was right.
func (a *asked) right(t *testing.T) {
	t.Helper()
	t.Logf("%d complete answers, %d incomplete", a.complete, a.incomplete)
	for _, wrong := range a.wrong[:min(3, len(a.wrong))] {
		t.Error(wrong)
	}
	if a.complete == 0 {
		t.Error("no complete answer at all")
	}
}

// tell gives the mapper a command.
func (w *world) tell(command func(m *mapper.Mapper, now time.Duration) error) error {
	return w.b.step(func() error { return command(w.b.mapper, w.b.now()) })
}

// model returns the mapper's model.
func (w *world) model() *balance.Model {
	w.b.mu.Lock()
	defer w.b.mu.Unlock()
	return w.b.mapper.Model()
}

// move begins to move a slice to a slave.
func (w *world) move(slice uint64, to string) {
	w.T.Helper()
	generation := w.slice(slice).Generation
	w.eventually("a move is taken", func() bool {
		err := w.tell(func(m *mapper.Mapper, now time.Duration) error { return m.Move(now, slice, to) })
		w.refused = err
		return err == nil
	})
	w.eventually("a move begins", func() bool { return w.slice(slice).Generation != generation })
}

func (w *world) slice(id uint64) balance.Slice {
	for _, s := range w.model().Slices() {
		if s.ID == id {
			return s
		}
	}
	return balance.Slice{}
}

// on lists the slices that a slave serves and that are at rest.
func (w *world) on(name string) (ids []uint64) {
	m := w.model()
	sh, _ := m.Named(name)
	for _, s := range m.Slices() {
		if s.Shard == sh.ID && s.Move.Phase == balance.NoMove {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// still reports whether no slice is being moved.
func (w *world) still() bool {
	for _, s := range w.model().Slices() {
		if s.Move.Phase != balance.NoMove {
			return false
		}
	}
	return true
}

// clean reports whether slaves hold exactly what the model says.
func (w *world) clean() bool {
	var held uint64
	for _, n := range w.nodes {
		held += n.store.Stats().Groups
		for _, h := range n.store.Slices().GetSlices() {
			if h.GetState() != pb.HeldState_HELD_STATE_FULL {
				return false
			}
		}
	}
	return w.still() && int(held) == w.known()
}

func (w *world) known() int {
	w.b.mu.Lock()
	defer w.b.mu.Unlock()
	return w.b.mapper.Items().Len()
}

// order returns two slaves, the first of which serves at least one slice.
func (w *world) order(i int) (from, to string) {
	names := slices.Sorted(maps.Keys(w.nodes))
	for len(w.on(names[i%len(names)])) == 0 {
		i++
	}
	return names[i%len(names)], names[(i+1)%len(names)]
}

// other writes n groups that match no query, from number `first` on, each with a different bid than
// before.
func (w *world) other(first, n int) {
	w.T.Helper()
	ctx := w.T.Context()
	tx, err := w.DB.Begin(ctx)
	w.Must(err)
	defer tx.Rollback()
	w.writes++
	for i := range n {
		adv, err := tx.Advertiser(ctx, fmt.Sprint("other ", first+i))
		w.Must(err)
		campaign, err := tx.Campaign(ctx, adv, "campaign", backend.CampaignPatch{Languages: backend.To(backend.LanguagesOf("en"))})
		w.Must(err)
		group, err := tx.Group(ctx, campaign, "group", backend.GroupPatch{Bid: backend.To(uint64(1_000_000 + w.writes))})
		w.Must(err)
		w.Must(tx.Keyword(ctx, group, backend.KeywordPatch{Text: "flower vase", Words: "flower vase", Type: search.Broad}))
		w.Must(tx.Ad(ctx, group, backend.AdPatch{Headlines: []string{"h"}, Descriptions: []string{"d"}, FinalURL: "https://a.example/"}))
	}
	w.Must(tx.Commit(ctx))
}

package fanout

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"adshard/balance/maps"
	"adshard/internal/node/fanout/choice"
	"adshard/internal/wait"
	"adshard/schema/pb"
	"adshard/search"
)

// Source hands out maps. It is a balancer, reached over gRPC. Errors have fault kinds.
type Source interface {
	WatchMap(ctx context.Context, r *pb.WatchMapRequest) (*pb.WatchMapResponse, error)
}

// The times of a Watcher.
const (
	watchWait    = 2 * time.Second
	callTimeout  = 5 * time.Second
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
	// retireAfter is how long a connection stays open that no map names any more: longer than the longest
	// query.
	retireAfter = 6 * time.Second
	// silentAfter is how long after its last answer a balancer is considered away: longer than a poll.
	silentAfter = watchWait + time.Second
)

// Watcher holds the newest map. As long as no balancer answers, it keeps the last one.
type Watcher struct {
	master string
	source Source
	seeds  Seeds // asked while there is no map and the source has none
	dial   Dialer
	about  About // reported to the source if it has a Traffic
	log    *slog.Logger
	now    atomic.Pointer[Map]

	changed wait.Broadcast // sent with each map

	start     time.Time
	mu        sync.Mutex
	connected connected      // under mu
	retired   []retired      // under mu
	watch     maps.Watch     // under mu
	complaint wait.Complaint // under mu
	stale     chan struct{}  // full if a slave no longer serves the map's view
}

type retired struct {
	link
	since time.Time
}

// NewWatcher returns a watcher for the master with this name. If `source` has no map, the first one may come
// from `seeds`, usually slaves; if it is away, newer ones come from the slaves of the map.
func NewWatcher(master string, source Source, seeds Seeds, dial Dialer, log *slog.Logger) *Watcher {
	return &Watcher{master: master, source: source, seeds: seeds, dial: dial, log: log, start: time.Now(),
		watch:     maps.NewWatch(maps.Times{Silent: silentAfter, FirstPause: firstPause, LongestPause: longestPause}),
		connected: connected{links: make(map[linked]link)}, stale: make(chan struct{}, 1)}
}

// Current implements Maps.
func (w *Watcher) Current() *Map { return w.now.Load() }

// Newer implements Maps. If the balancer is away, the slaves are asked.
func (w *Watcher) Newer(ctx context.Context, old *Map) *Map {
	select {
	case w.stale <- struct{}{}:
	default:
	}
	for {
		changed := w.changed.Next()
		if m := w.now.Load(); m != old {
			return m
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// Trouble returns why there is no newer map, or nil if the balancer answers.
func (w *Watcher) Trouble() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.watch.Trouble()
}

// Run watches until ctx is done, and then returns nil. Close closes the connections.
func (w *Watcher) Run(ctx context.Context) error {
	var help sync.WaitGroup
	defer help.Wait()
	help.Go(func() { w.askWhenStale(ctx) })
	for ctx.Err() == nil {
		fresh, err := w.poll(ctx)
		w.retire()
		if ctx.Err() != nil {
			break
		}
		pause := w.polled(fresh, err)
		if err != nil && w.asks(false) {
			w.ask(ctx)
		}
		if pause > 0 {
			_ = wait.Sleep(ctx, pause)
		}
	}
	return nil
}

// polled records how a poll ended, and returns the pause before the next one.
func (w *Watcher) polled(fresh bool, err error) (pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.complaint.Tell(err) {
		w.log.Warn("no newer map; using the last one", "err", err)
	}
	return w.watch.Polled(time.Since(w.start), fresh, err)
}

// asks reports whether the slaves should be asked for a map. `outdated` says that one of them no longer
// serves the present one.
func (w *Watcher) asks(outdated bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.watch.AskSlaves(time.Since(w.start), w.now.Load().version(), outdated)
}

// askWhenStale asks the slaves for a newer map when one of them no longer serves the map's view and the
// balancer is away.
func (w *Watcher) askWhenStale(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.stale:
		}
		if w.asks(true) {
			w.ask(ctx)
			_ = wait.Sleep(ctx, firstPause)
		}
	}
}

// About is what a master reports about itself with each poll. A balancer shows it; only the vocabulary matters to it.
type About struct {
	URL     string        // at which it takes queries
	Timeout time.Duration // the time limit of queries that set none
	Traffic func() *pb.Traffic
	// Vocabulary returns the version of the vocabulary that the master has prepared.
	Vocabulary func() string
}

// Tell sets what each poll reports. Call it before Run.
func (w *Watcher) Tell(a About) { w.about = a }

// poll waits once for a newer map. fresh is false if the balancer answered at once with the present one; the
// caller then pauses, so that it does not spin.
func (w *Watcher) poll(ctx context.Context) (fresh bool, err error) {
	now := w.now.Load().version()
	r := &pb.WatchMapRequest{WaitMs: uint32(watchWait.Milliseconds()), Master: w.master,
		Epoch: now.Epoch, View: now.View, Revision: now.Revision, Database: now.Database, Timeline: now.Timeline, Filled: now.Filled}
	if a := &w.about; a.Traffic != nil {
		r.QueryUrl, r.TimeoutMs, r.Traffic = a.URL, uint32(a.Timeout.Milliseconds()), a.Traffic()
	}
	if a := &w.about; a.Vocabulary != nil {
		r.Vocabulary = a.Vocabulary()
	}
	call, cancel := context.WithTimeout(ctx, watchWait+callTimeout)
	defer cancel()
	reply, err := w.source.WatchMap(call, r)
	if err != nil {
		return false, fmt.Errorf("ask the balancer for the map: %w", err)
	}
	if len(reply.GetShards()) == 0 {
		return true, nil
	}
	return w.take(reply.GetShards(), versionOf(reply))
}

// ask takes the newest map that the seeds or the slaves of the present map have, if there is one.
func (w *Watcher) ask(ctx context.Context) {
	seeds, now := w.seeds, w.now.Load()
	if now != nil {
		seeds = slices.Clone(seeds)
		for _, s := range now.Shards {
			for _, r := range s.Replicas {
				if seed, ok := r.Slave.(Seed); ok {
					seeds = append(seeds, seed)
				}
			}
		}
	}
	shards, version, err := seeds.next(ctx, now.version())
	if err != nil {
		return // the balancer's error is the one to report
	}
	if _, err := w.take(shards, version); err == nil {
		w.log.Info("no balancer: the map is that of the slaves", "epoch", version.Epoch, "view", version.View)
	}
}

// take makes a map the newest one. Errors: those of maps.Version.Accept, since the current map may have
// changed after this one was requested.
func (w *Watcher) take(shards []*pb.Shard, version maps.Version) (fresh bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.now.Load()
	if err := old.version().Accept(version); err != nil {
		return false, err
	}
	m := &Map{Epoch: version.Epoch, View: version.View, Revision: version.Revision, Database: version.Database,
		Timeline: version.Timeline, Filled: version.Filled}
	next := connected{links: make(map[linked]link, len(shards)), shards: make(map[search.ShardID]*choice.Shard, len(shards))}
	for _, s := range shards {
		shard, err := w.connect(m, s, &next)
		if err != nil {
			return false, err
		}
		m.Shards = append(m.Shards, shard)
	}
	if old != nil && old.version() == version && slices.EqualFunc(old.Shards, m.Shards, Shard.equal) {
		return false, nil
	}
	for key, l := range w.connected.links {
		if _, ok := next.links[key]; !ok {
			w.retired = append(w.retired, retired{l, time.Now()})
		}
	}
	w.connected = next
	w.now.Store(m)
	w.changed.Notify()
	level := slog.LevelDebug // there are dozens of views while slices are moving
	if old == nil || old.Epoch != m.Epoch || !slices.EqualFunc(old.Shards, m.Shards, Shard.same) {
		level = slog.LevelInfo
	}
	w.log.Log(context.Background(), level, "map", "epoch", m.Epoch, "view", m.View, "revision", m.Revision, "shards", len(m.Shards))
	return true, nil
}

// retire closes connections that no map has named for a while.
func (w *Watcher) retire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.retired = slices.DeleteFunc(w.retired, func(r retired) bool {
		if time.Since(r.since) < retireAfter {
			return false
		}
		_ = r.close()
		return true
	})
}

// Close closes all connections. Call it after Run has returned.
func (w *Watcher) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.connected.links {
		_ = l.close()
	}
	for _, r := range w.retired {
		_ = r.close()
	}
	w.connected, w.retired = connected{}, nil
}

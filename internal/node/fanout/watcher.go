package fanout

import (
	"adshard/internal/wait"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// Source hands out maps; *wire connections to a balancer do. Errors have fault
// kinds.
type Source interface {
	WatchMap(ctx context.Context, r *pb.WatchMapRequest) (*pb.WatchMapResponse, error)
}

// Dialer connects to the slave of a shard; it returns at once. Close ends the
// connection.
type Dialer func(shard string, id search.ShardID, address string) (slave Slave, close func() error, err error)

// The times of a Watcher.
const (
	watchWait    = 2 * time.Second
	callTimeout  = 5 * time.Second
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
	// retireAfter is when connections that no map names any more are closed:
	// the longest query is over by then.
	retireAfter = 6 * time.Second
	// silentAfter is how long after its last answer a balancer counts as away:
	// longer than a poll waits.
	silentAfter = watchWait + time.Second
)

// Watcher keeps the newest map. While no balancer answers it keeps the last.
type Watcher struct {
	master string
	source Source
	seeds  Seeds // asked while there is no map and source has none
	dial   Dialer
	log    *slog.Logger
	now    atomic.Pointer[Map]

	changed wait.Broadcast // sent with each map

	mu      sync.Mutex
	links   map[linked]link // under mu
	retired []retired       // under mu
	trouble error           // of the last call; under mu
	heard   time.Time       // when source last answered; under mu
	stale   chan struct{}   // full: a slave no longer serves the map's view
}

// linked is whom a link leads to.
type linked struct {
	id      search.ShardID
	address string
}

type link struct {
	slave    Slave
	presence *Presence
	close    func() error
}

type retired struct {
	link
	since time.Time
}

// NewWatcher returns a watcher for the master of this name. Where source has
// no map the first one may come from seeds, which are slaves mostly; where it
// is away, newer ones come from the slaves of the map.
func NewWatcher(master string, source Source, seeds Seeds, dial Dialer, log *slog.Logger) *Watcher {
	return &Watcher{master: master, source: source, seeds: seeds, dial: dial, log: log,
		links: make(map[linked]link), stale: make(chan struct{}, 1)}
}

// Current implements Maps.
func (w *Watcher) Current() *Map { return w.now.Load() }

// Newer implements Maps. While the balancer is away the slaves are asked.
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

// Trouble is why there is no newer map; nil: the balancer answers.
func (w *Watcher) Trouble() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trouble
}

// Run watches until ctx is over; it returns nil then. Close ends the
// connections.
func (w *Watcher) Run(ctx context.Context) error {
	var help sync.WaitGroup
	defer help.Wait()
	help.Go(func() { w.helped(ctx) })
	again := firstPause
	for ctx.Err() == nil {
		fresh, err := w.poll(ctx)
		w.retire()
		if ctx.Err() != nil {
			break
		}
		w.note(err)
		if err == nil && fresh {
			again = firstPause
			continue
		}
		if err != nil {
			again = min(2*again, longestPause)
		}
		_ = wait.Sleep(ctx, again)
	}
	return nil
}

func (w *Watcher) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && (w.trouble == nil || w.trouble.Error() != err.Error()) {
		w.log.Warn("no newer map; keeping the last", "err", err)
	}
	w.trouble = err
	if err == nil {
		w.heard = time.Now()
	}
}

// helped asks slaves for a newer map when one says that the map's view is over
// while the balancer is away.
func (w *Watcher) helped(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.stale:
		}
		w.mu.Lock()
		away := w.trouble != nil || time.Since(w.heard) > silentAfter
		w.mu.Unlock()
		if away && w.now.Load() != nil {
			w.ask(ctx)
			_ = wait.Sleep(ctx, firstPause)
		}
	}
}

// poll waits once for a newer map. fresh is false when the balancer answered
// at once with what is known: the caller pauses, so as not to ask in a loop.
func (w *Watcher) poll(ctx context.Context) (fresh bool, err error) {
	r := &pb.WatchMapRequest{WaitMs: uint32(watchWait.Milliseconds()), Master: w.master}
	now := w.now.Load()
	if now != nil {
		r.Epoch, r.View, r.Database, r.Timeline = now.Epoch, now.View, now.Database, now.Timeline
		r.Filled = now.Filled
	}
	call, cancel := context.WithTimeout(ctx, watchWait+callTimeout)
	defer cancel()
	reply, err := w.source.WatchMap(call, r)
	if err != nil {
		err = fmt.Errorf("ask the balancer for the map: %w", err)
		if now == nil {
			w.ask(ctx)
		}
		return false, err
	}
	if len(reply.GetShards()) == 0 {
		return true, nil
	}
	if err := sameDatabase(now, reply.GetDatabase()); err != nil {
		return false, err
	}
	if now != nil && (reply.GetEpoch() < now.Epoch || reply.GetEpoch() == now.Epoch && reply.GetView() < now.View) {
		return false, fault.Newf(fault.Stale, "master: ask for the map",
			"the balancer's map %d/%d is older than this master's %d/%d, which it keeps; if the balancer was set up anew, start the master anew too",
			reply.GetEpoch(), reply.GetView(), now.Epoch, now.View)
	}
	return w.take(reply)
}

// sameDatabase refuses the map of another database than that of the map at hand:
// the slaves that it names hold other advertisers' data.
func sameDatabase(now *Map, database string) error {
	if now == nil || now.Database == database {
		return nil
	}
	return fault.Newf(fault.Conflict, "master: ask for the map",
		"the balancer's map is of database %s, this master keeps serving database %s; to change to the balancer's, restart the master",
		database, now.Database)
}

// ask takes the map that slaves have, if any: seeds, and those of the map.
func (w *Watcher) ask(ctx context.Context) {
	seeds, now := w.seeds, w.now.Load()
	if now != nil {
		seeds = slices.Clone(seeds)
		for _, s := range now.Shards {
			if seed, ok := s.Slave.(Seed); ok {
				seeds = append(seeds, seed)
			}
		}
	}
	reply, err := seeds.next(ctx, now)
	if err != nil {
		return // the balancer's error is the one to tell
	}
	if _, err := w.take(reply); err == nil {
		w.log.Info("no balancer: the map is that of the slaves", "epoch", reply.GetEpoch(), "view", reply.GetView())
	}
}

// take makes the reply the newest map.
func (w *Watcher) take(reply *pb.WatchMapResponse) (fresh bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := &Map{Epoch: reply.GetEpoch(), View: reply.GetView(), Database: reply.GetDatabase(), Timeline: reply.GetTimeline(),
		Filled: reply.GetFilled()}
	used := make(map[linked]link, len(reply.GetShards()))
	for _, s := range reply.GetShards() {
		if len(s.GetAddresses()) == 0 {
			m.Shards = append(m.Shards, Shard{Name: s.GetName(), Slave: nowhere{s.GetName()}, Width: widthOf(s)})
			continue
		}
		address := s.GetAddresses()[0]
		key := linked{search.NewShardID(m.Database, m.Timeline, s.GetName()), address}
		l, ok := w.links[key]
		if !ok {
			if l.slave, l.close, err = w.dial(s.GetName(), key.id, address); err != nil {
				return false, err
			}
			l.presence = new(Presence)
			w.links[key] = l
		}
		used[key] = l
		m.Shards = append(m.Shards, Shard{Name: s.GetName(), Slave: l.slave, Width: widthOf(s), Presence: l.presence})
	}
	old := w.now.Load()
	if old != nil && old.Epoch == m.Epoch && old.View == m.View && old.Timeline == m.Timeline && old.Filled == m.Filled &&
		slices.Equal(old.Shards, m.Shards) {
		return false, nil
	}
	for key, l := range w.links {
		if _, ok := used[key]; !ok {
			w.retired = append(w.retired, retired{l, time.Now()})
		}
	}
	w.links = used
	w.now.Store(m)
	w.changed.Notify()
	level := slog.LevelDebug // views come by the dozen while slices move
	if old == nil || old.Epoch != m.Epoch || !slices.EqualFunc(old.Shards, m.Shards, Shard.same) {
		level = slog.LevelInfo
	}
	w.log.Log(context.Background(), level, "map", "epoch", m.Epoch, "view", m.View, "shards", len(m.Shards))
	return true, nil
}

func widthOf(s *pb.Shard) search.Width { return search.Width{Hi: s.GetWidthHi(), Lo: s.GetWidthLo()} }

// retire closes connections that have not been named for a while.
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

// Close ends all connections; the watcher must not be running.
func (w *Watcher) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.links {
		_ = l.close()
	}
	for _, r := range w.retired {
		_ = r.close()
	}
	w.links, w.retired = nil, nil
}

package creators

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"adshard/internal/node/fanout"
	"adshard/internal/node/fanout/choice"
	"adshard/internal/node/home"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/searchapi"
	"adshard/search"
)

// Config says what to build, and how.
type Config struct {
	// Build builds the barrels of all slaves, slave-0, slave-1, …, in a directory that does
	// not exist yet.
	Build func(ctx context.Context, out string) error
	// Each: every slave has its own creator, which delivers only the barrel of that slave and
	// knows nothing of the others. Otherwise one creator serves all slaves.
	Each bool
	// Dir is an empty directory for the barrels and for the slaves' copies.
	Dir    string
	Slaves int
	// CacheBytes is the size of a slave's cache.
	CacheBytes uint64
}

// Iteration says how long an iteration of a creator took: until it was built, and until its
// last slave had switched.
type Iteration struct{ Built, Switched time.Duration }

// System is a running system of creators, slaves and a master. Use Start to make one.
type System struct {
	// URL is the address for queries.
	URL string

	cfg    Config
	slaves []*slave
	cancel context.CancelFunc
	ended  errgroup.Group

	mu         sync.Mutex
	iterations []Iteration
}

// reserve is the lowest price, the default of a master.
const reserve = 10_000

// Start builds, copies and opens the first barrels and begins to answer. Creators and
// slaves then go on until Stop.
func Start(ctx context.Context, cfg Config) (_ *System, err error) {
	s := &System{cfg: cfg}
	for i := range cfg.Slaves {
		s.slaves = append(s.slaves, &slave{dir: filepath.Join(cfg.Dir, home.StoreName(i)), cache: cfg.CacheBytes})
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	first := creator{System: s, slaves: s.slaves}
	if err := cfg.Build(ctx, first.built(0)); err != nil {
		return nil, fmt.Errorf("build the first barrels: %w", err)
	}
	if err := first.deliver(ctx, 0); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.URL = "http://" + ln.Addr().String()
	ctx, s.cancel = context.WithCancel(ctx)
	s.ended.Go(func() error { return httpapi.Serve(ctx, ln, s.handler()) })
	if !cfg.Each {
		first.iterate(ctx)
		return s, nil
	}
	for i := range s.slaves {
		(&creator{System: s, number: i, slaves: s.slaves[i : i+1]}).iterate(ctx)
	}
	return s, nil
}

// handler returns a master's handler over the slaves.
func (s *System) handler() *searchapi.Handler {
	m := &fanout.Map{Epoch: 1, View: 1}
	for i, sl := range s.slaves {
		name := home.StoreName(i)
		m.Shards = append(m.Shards, fanout.NewShard(name, search.Width{}, choice.NewShard(), fanout.NewReplica(name, fanout.Concurrent(sl))))
	}
	return searchapi.New(searchapi.Config{Searcher: fanout.New(still{m}, nil), Reserve: reserve})
}

// still is a map that does not change.
type still struct{ m *fanout.Map }

func (s still) Current() *fanout.Map                           { return s.m }
func (s still) Newer(context.Context, *fanout.Map) *fanout.Map { return nil }

// creator builds barrels for some slaves.
type creator struct {
	*System
	number int
	slaves []*slave
}

// iterate builds one iteration after another, while slaves copy the previous one.
func (c *creator) iterate(ctx context.Context) {
	type built struct {
		number int
		began  time.Time
		took   time.Duration
	}
	ready := make(chan built)
	c.ended.Go(func() error {
		defer close(ready)
		for n := 1; ctx.Err() == nil; n++ {
			began := time.Now()
			if err := c.cfg.Build(ctx, c.built(n)); err != nil {
				return unless(ctx, fmt.Errorf("build barrels: %w", err))
			}
			select {
			case ready <- built{n, began, time.Since(began)}:
			case <-ctx.Done():
			}
		}
		return nil
	})
	c.ended.Go(func() error {
		defer c.cancel() // nothing goes on without a creator
		for b := range ready {
			if err := c.deliver(ctx, b.number); err != nil {
				return unless(ctx, err)
			}
			c.mu.Lock()
			c.iterations = append(c.iterations, Iteration{Built: b.took, Switched: time.Since(b.began)})
			c.mu.Unlock()
		}
		return nil
	})
}

// unless returns err, or nil if ctx is done, which then has caused it.
func unless(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// built returns the directory of an iteration.
func (c *creator) built(number int) string {
	return filepath.Join(c.cfg.Dir, fmt.Sprintf("built-%d-%d", c.number, number))
}

// deliver makes the slaves copy their barrels of an iteration, each at its own pace, and
// removes what was built.
func (c *creator) deliver(ctx context.Context, number int) error {
	from := c.built(number)
	var all errgroup.Group
	for _, s := range c.slaves {
		all.Go(func() error { return s.get(ctx, filepath.Join(from, filepath.Base(s.dir)), number) })
	}
	return errors.Join(all.Wait(), os.RemoveAll(from))
}

// Iterations returns the iterations of all creators that have reached their slaves.
func (s *System) Iterations() []Iteration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Iteration(nil), s.iterations...)
}

// Stop ends everything and closes the stores. It may be called only once. It returns the
// error that ended creators or slaves earlier, if there was one.
func (s *System) Stop() error {
	s.cancel()
	return errors.Join(s.ended.Wait(), s.close())
}

func (s *System) close() (err error) {
	for _, sl := range s.slaves {
		err = errors.Join(err, sl.close())
	}
	return err
}

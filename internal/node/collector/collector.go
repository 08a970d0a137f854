// Package collector is the process that takes impressions and clicks over HTTP, and marks campaigns that have spent
// their budget. Any number of collectors may share a database of events. Between requests it keeps only the keys of
// tokens.
package collector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"adshard/backend"
	"adshard/budget"
	"adshard/events"
	"adshard/events/store"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/control"
	"adshard/internal/node/database"
	"adshard/internal/node/health"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/metrics"
	"adshard/internal/node/ports"
	"adshard/internal/wait"
)

// Run runs a collector until ctx is done. It prints "admin http://ADDR" and "collector listening http://ADDR" when it listens (https
// where the port has TLS), and "collector ready http://ADDR" as soon as it can work.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	if err := cfg.CheckStart(ctx, log); err != nil {
		return err
	}
	db, err := database.OpenTelling(ctx, cfg.DB, func(text string) { log.Warn(text) })
	if err != nil {
		return err
	}
	defer db.Close()
	own, err := cfg.Settings.Open(access.Collector, cfg.Name, log)
	if err != nil {
		return err
	}
	port, err := ports.Open(own, cfg.Admin, cfg.AdminHosts...)
	if err != nil {
		return err
	}
	defer port.Close()
	c, err := New(ctx, cfg, db, port, log)
	if err != nil {
		return err
	}
	defer c.Close()
	c.tellLeaderless(ctx)
	port.Register(cfg.Name)
	port.RegisterState(cfg.Name, cfg.state(), log)
	port.Print(out)
	fmt.Fprintf(out, "collector listening %s\n", c.URL())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { health.Announce(ctx, out, "collector ready "+c.URL(), c.Ready); return nil })
	group.Go(func() error { return port.Serve(ctx, c.Ready, nil, log) })
	group.Go(func() error { return c.Run(ctx) })
	return group.Wait()
}

// Collector is a collector that listens. Close it.
type Collector struct {
	listener net.Listener
	tls      *certs.Queries
	db       backend.Store
	store    store.Store
	named    *events.Named
	keys     *events.Keys
	counter  *events.Counter
	budgets  *events.Budgets
	pacing   *events.Pacing
	learning *learning // nil: keywords are served with the given qualities
	handler  *handler
	origins  origins
	metrics  *eventMetrics
	stateKey string
	watches  [3]*watch // for budgets
	log      *slog.Logger
}

// New opens the database of events, reads the keys of tokens, or makes the first one, and listens. The
// caller closes db.
func New(ctx context.Context, cfg Config, db backend.Store, port *ports.Ports, log *slog.Logger) (*Collector, error) {
	return open(ctx, cfg, db, port, log, time.Now)
}

// open is New with a given clock.
func open(ctx context.Context, cfg Config, db backend.Store, port *ports.Ports, log *slog.Logger, now func() time.Time) (c *Collector, err error) {
	c = &Collector{db: db, origins: cfg.EventOrigins, stateKey: cfg.StateKey, log: log.With("node", cfg.Name), metrics: newEventMetrics(port.Registerer(cfg.Name))}
	if c.tls, err = cfg.QueryTLS.Open(log); err != nil {
		return nil, err
	}
	if c.store, err = openStore(ctx, cfg.events(), db, cfg.AdoptEvents); err != nil {
		return nil, err
	}
	if c.named, err = c.name(ctx, cfg.AdoptEvents, now); err != nil {
		_ = c.store.Close() // err says more than an error of Close
		return nil, err
	}
	c.keys = events.NewKeys(db, cfg.StateKey, now)
	c.budgets = &events.Budgets{Store: c.store, Campaigns: campaigns{db}, Control: db, Now: now}
	c.pacing = &events.Pacing{
		Store: c.store, Campaigns: campaigns{db}, Control: db, Key: cfg.StateKey + events.PacingKey, Options: budget.DefaultOptions(), Now: now,
	}
	zones := &events.CachedZones{From: campaigns{db}, Now: now}
	c.counter = &events.Counter{Store: c.store, Keys: c.keys, Zones: zones, Now: now, Durable: c.budgets.Note, Keep: cfg.KeepEvents}
	c.watches = [3]*watch{
		c.watch(c.budgets.Check, checkEvery), c.watch(c.budgets.Sweep, sweepEvery), c.watch(c.pacing.Round, events.PaceEvery),
	}
	if cfg.Quality == QualityLearned {
		c.learning = &learning{
			db: db, store: c.store, named: c.named, key: cfg.StateKey + learningKey, every: cfg.LearnEvery, now: now, log: c.log,
			metrics: newLearningMetrics(port.Registerer(cfg.Name)),
		}
	}
	c.handler = newHandler(c.counter, c.named, c.metrics, cfg.MaxInFlight, c.log)
	metrics.WatchEventKeys(port.Registerer(cfg.Name), metrics.KeysOfCollector, c.keys.Ring)
	if err = c.keys.Rotate(ctx); err == nil {
		c.listener, err = ports.Listen(port.Sockets.Queries, "http", cfg.HTTP)
	}
	if err != nil {
		_ = c.store.Close() // err says more than an error of Close
		return nil, err
	}
	return c, nil
}

// watch returns a watch that checks budgets only while the collector's database is the one in use.
func (c *Collector) watch(look func(context.Context) error, every time.Duration) *watch {
	return &watch{look: func(ctx context.Context) error {
		if c.named.Confirm(ctx) != nil {
			return nil // Ready reports it
		}
		return look(ctx)
	}, every: every, failed: c.metrics.failed}
}

// Close closes the listener and the database of events.
func (c *Collector) Close() {
	_ = c.listener.Close() // Run may have closed it
	if err := c.store.Close(); err != nil {
		c.log.Warn("closing the database of events failed", "err", err)
	}
}

// URL returns the URL for events.
func (c *Collector) URL() string { return c.tls.Scheme() + "://" + c.listener.Addr().String() }

const (
	// checkEvery leaves most of a second between a click and the mark on its campaign.
	checkEvery = 100 * time.Millisecond
	// sweepEvery is also the longest time after the end of a day until its marks are taken back.
	sweepEvery = 10 * time.Second
	// tendEvery is the time between two rounds of reading keys and forgetting events.
	tendEvery = time.Minute
)

// Run serves until ctx is done.
func (c *Collector) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return httpapi.Serve(ctx, c.tls.Listener(c.listener), c.origins.around(c.handler)) })
	group.Go(func() error { c.tls.Run(ctx); return nil })
	for _, w := range c.watches {
		group.Go(func() error { w.run(ctx, c.log); return nil })
	}
	group.Go(func() error { c.tend(ctx); return nil })
	if c.learning != nil {
		group.Go(func() error { c.learning.run(ctx); return nil })
	}
	return group.Wait()
}

// tend rotates keys and forgets old events until ctx is done.
func (c *Collector) tend(ctx context.Context) {
	for wait.Sleep(ctx, tendEvery) == nil {
		c.tellLeaderless(ctx)
		if err := c.keys.Rotate(ctx); err != nil && ctx.Err() == nil {
			c.log.Error("the keys of event tokens cannot be read", "err", err)
		}
		if c.named.Confirm(ctx) != nil {
			continue
		}
		if err := c.counter.Forget(ctx); err != nil && ctx.Err() == nil {
			c.log.Error("old events cannot be removed", "err", err)
		}
	}
}

// tellLeaderless logs a warning if no balancer has ever led with the collector's state key. Masters get their keys
// from a balancer, and other state keys have other keys. Even if the control state is in etcd, the epoch of a
// leading balancer is also in the backend database.
func (c *Collector) tellLeaderless(ctx context.Context) {
	if epoch, _, err := control.Epoch(ctx, c.db, c.stateKey); err == nil && epoch == 0 {
		c.log.Warn("no balancer has led with this state_key, so the keys here are no master's, and all events are forged: set the state_key of the balancer"+
			" (of `adshard up`: use its --collector), or start the balancer", "state_key", c.stateKey)
	}
}

// Ready returns why the collector cannot do its work, or an empty list if it can.
func (c *Collector) Ready() (why []string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := health.Database(c.db); err != nil {
		why = append(why, err.Error())
	} else if err := c.named.Confirm(ctx); err != nil { // it reads the database
		why = append(why, err.Error())
	}
	if err := c.store.Health(ctx); err != nil {
		why = append(why, err.Error())
	}
	if len(why) > 0 { // budgets need both
		return why
	}
	for _, w := range c.watches {
		var damage *backend.Damage // one campaign is damaged, which is no reason to refuse the events of others
		if err := w.trouble.Load(); err != nil && !errors.As(*err, &damage) {
			why = append(why, "budgets cannot be looked at: "+(*err).Error())
		}
	}
	return why
}

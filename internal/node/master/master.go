// Package master is the process that takes queries over HTTP, asks all shards and answers with the result of the auction. It keeps no
// state on disk.
package master

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/config"
	"adshard/internal/node/documents"
	"adshard/internal/node/fanout"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/metrics"
	"adshard/internal/node/ports"
	"adshard/internal/node/queryserver"
	"adshard/internal/node/remote"
	"adshard/internal/node/scorers"
	"adshard/internal/node/searchapi"
	"adshard/internal/node/wire"
	"adshard/internal/wait"
	"adshard/places"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
	"adshard/search/words/lexicon"
	"adshard/targeting"
)

// Run runs a master until ctx is done. It prints "admin http://ADDR", "grpc ADDR" and
// "master listening http://ADDR" when it listens, and "ready http://ADDR" as soon
// as a complete answer is possible (https where the port has TLS).
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	if err := cfg.CheckStart(ctx, log); err != nil {
		return err
	}
	config.SetGCPercent(cfg.GCPercent)
	own, err := cfg.Settings.Open(access.Master, cfg.Name, log)
	if err != nil {
		return err
	}
	cfg.Credentials = own
	port, err := ports.Open(own, cfg.Admin, cfg.AdminHosts...)
	if err != nil {
		return err
	}
	defer port.Close()
	if cfg.Models, err = scorers.Open(cfg.Scorer, log); err != nil {
		return err
	}
	m, err := New(cfg, port, nil, log)
	if err != nil {
		return err
	}
	port.Register(cfg.Name)
	port.RegisterState(cfg.Name, cfg.QueryLog.Paths(), log)
	port.Print(out)
	m.Print(out)
	fmt.Fprintf(out, "master listening %s\n", m.url())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return port.Serve(ctx, m.Ready, nil, log) })
	group.Go(func() error { return m.Run(ctx) })
	group.Go(func() error { m.Announce(ctx, out); return nil })
	group.Go(func() error { cfg.Models.Run(ctx); return nil })
	return group.Wait()
}

// Master is a master that listens.
type Master struct {
	cfg      Config
	listener net.Listener
	balancer *remote.Leader
	seeds    []*grpc.ClientConn
	watcher  *fanout.Watcher
	fanout   *fanout.Fanout
	handler  *searchapi.Handler
	calls    net.Listener // for queries over gRPC, or nil if there are none
	queries  *certs.Queries
	keys     *eventKeys // nil if event tokens are not signed
	written  written
	places   *documents.Places
	lists    *documents.Lists
	follower *documents.Follower // of places and lists
	// words has the vocabulary, which speller follows: places and lists do not wait while one is prepared.
	words   *documents.Vocabulary
	speller *documents.Follower
	stops   *documents.Stops // it makes speller doubt
	log     *slog.Logger
}

// New reads the lexicon, listens and connects. `local` finds the slaves in this process (fanout.Within), or is nil if there are none.
func New(cfg Config, port *ports.Ports, local func(address string) fanout.Local, log *slog.Logger) (*Master, error) {
	m := &Master{cfg: cfg, places: new(documents.Places), lists: new(documents.Lists), log: log.With("node", cfg.Name)}
	m.words = documents.NewVocabulary(m.log)
	var err error
	if m.queries, err = cfg.QueryTLS.Open(log); err != nil {
		return nil, err
	}
	lexicon, err := openLexicon(cfg.Lexicon, m.log)
	if err != nil {
		return nil, err
	}
	if m.listener, err = ports.Listen(port.Sockets.Queries, "http", cfg.HTTP); err != nil {
		return nil, err
	}
	if m.balancer, err = remote.Find(cfg.Balancer, cfg.Languages, cfg.Credentials, m.log); err != nil {
		return nil, errors.Join(err, m.listener.Close())
	}
	seeds, err := m.dialSeeds()
	if err != nil {
		m.Close()
		return nil, err
	}
	if cfg.GRPC != "" {
		if m.calls, err = ports.Listen(port.Sockets.Queries, "grpc", cfg.GRPC); err != nil {
			m.Close()
			return nil, err
		}
	}
	observer := NewMetrics(port.Registerer(cfg.Name))
	m.watcher = fanout.NewWatcher(cfg.Name+"/"+rand.Text(), m.balancer, seeds, m.dialer(local), m.log)
	m.watcher.Tell(fanout.About{URL: m.reachedAt(), Timeout: cfg.Timeout, Traffic: observer.Traffic, Vocabulary: m.words.Prepared})
	metrics.Gauge(port.Registerer(cfg.Name), "adshard_filled", "1: the first fill of the slaves is complete.", m.filled)
	metrics.Gauge(port.Registerer(cfg.Name), "adshard_places", "Places of the master's table; 0: the balancer has not told yet which table it is.", m.countPlaces)
	m.follower = documents.New(cfg.Name, m.database, m.balancer, documents.Keepers{m.places, m.lists}, m.log)
	documents.Watch(port.Registerer(cfg.Name), m.lists, m.follower)
	m.speller = documents.New(cfg.Name, m.database, m.balancer, m.words, m.log)
	m.stops = documents.NewStops(m.speller.Doubt)
	m.words.Watch(port.Registerer(cfg.Name))
	m.queries.Register(port.Registerer(cfg.Name))
	m.fanout = fanout.New(m.watcher, observer)
	if err := m.handle(lexicon, observer, port); err != nil {
		m.watcher.Close()
		m.Close()
		return nil, err
	}
	return m, nil
}

// handle makes the handler of the query port, and the handler for explanations on the admin port.
func (m *Master) handle(lexicon *words.Lexicon, observer *Metrics, port *ports.Ports) error {
	profile, err := readProfile(m.cfg.Profile)
	if err != nil {
		return err
	}
	c := searchapi.Config{
		Searcher: m.fanout, Explainer: m.fanout, Counter: m.fanout, Places: m.Places, List: m.lists.Version, IncludeUnknownLocations: m.cfg.UnknownLocation == IncludeUnknown, Expansions: search.NewExpansions(m.cfg.Languages, lexicon, searchapi.ExpansionBytes), Profile: profile,
		Reserve: m.cfg.Reserve, DefaultTimeout: m.cfg.Timeout, MaxInFlight: m.cfg.MaxInFlight, Observer: observer,
		Scorer: m.cfg.Models.Asked,
	}
	c.Expansions.Correct(m.vocabulary)
	c.Confirm = m.confirm
	c.Names = append(port.Names(), m.cfg.AdminHosts...)
	if !config.Unspecified(m.cfg.HTTP) {
		c.Names = append(c.Names, m.cfg.HTTP)
	}
	explaining := searchapi.New(c)
	port.Explain, port.Places = explaining, m.Places
	c.OwnRequestIDs = m.cfg.RequestIDs == searchapi.RequestIDsOwn // an operator explains a request by its id
	if m.cfg.EventTokens {
		m.keys = newEventKeys()
		c.EventKeys = m.keys.ring.Load
		metrics.WatchEventKeys(port.Registerer(m.cfg.Name), metrics.KeysOfMaster, m.keys.ring.Load)
	}
	if !m.cfg.explains(m.listener.Addr()) {
		c.Explainer = nil
		m.log.Info("explanations are served on the admin port only, since the query port is not on loopback (explain: public serves them there too)")
	}
	if err := m.writeDown(&c, explaining, port); err != nil {
		return err
	}
	m.handler = searchapi.New(c)
	metrics.WatchGate(port.Registerer(m.cfg.Name), m.handler)
	return nil
}

// dialer returns the dialer with which slaves are reached.
func (m *Master) dialer(local func(address string) fanout.Local) fanout.Dialer {
	dial := fanout.Streams(m.cfg.Languages, m.cfg.Credentials, m.log)
	if local == nil {
		return dial
	}
	return fanout.Within(local, dial)
}

// dialSeeds makes the connections to the slaves that are asked for the map if no balancer answers.
func (m *Master) dialSeeds() (fanout.Seeds, error) {
	var seeds fanout.Seeds
	for _, address := range m.cfg.Slaves {
		conn, err := wire.Dial(address, m.cfg.Credentials.To("", access.Slave)...)
		if err != nil {
			return nil, err
		}
		m.seeds = append(m.seeds, conn)
		seeds = append(seeds, fanout.NewSeed(pb.NewSlaveClient(conn)))
	}
	return seeds, nil
}

// openLexicon opens the file of synonyms, if there is one.
func openLexicon(path string, log *slog.Logger) (*words.Lexicon, error) {
	if path == "" {
		log.Info("no lexicon: synonyms are off")
		return nil, nil
	}
	synonyms, err := lexicon.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the lexicon: %w", err)
	}
	log.Info("lexicon", "path", path, "hash", synonyms.Hash())
	return synonyms, nil
}

// url returns the URL for queries.
func (m *Master) url() string { return m.queries.Scheme() + "://" + m.listener.Addr().String() }

// reachedAt returns the URL for queries as other hosts use it: if the port listens on all addresses, with the name of this host.
func (m *Master) reachedAt() string {
	address := m.listener.Addr().String()
	if config.Unspecified(address) {
		if host, err := os.Hostname(); err == nil {
			_, port, _ := net.SplitHostPort(address) // a listener's address always splits
			address = net.JoinHostPort(host, port)
		}
	}
	return m.queries.Scheme() + "://" + address
}

// Close releases what New opened. Call it if Run is never called.
func (m *Master) Close() {
	_ = m.listener.Close()
	if m.calls != nil {
		_ = m.calls.Close()
	}
	m.written.close()
	m.hangUp()
}

// hangUp closes the connections to the balancer and the seeds.
func (m *Master) hangUp() {
	_ = m.balancer.Close()
	for _, conn := range m.seeds {
		_ = conn.Close()
	}
}

// Run serves until ctx is done. The connections to slaves are closed after the last query has been answered.
func (m *Master) Run(ctx context.Context) error {
	defer m.hangUp()
	defer m.watcher.Close()
	defer m.written.close()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return httpapi.Serve(ctx, m.queries.Listener(m.listener), m.handler) })
	if m.calls != nil {
		group.Go(func() error { return m.serveCalls(ctx) })
	}
	if m.keys != nil {
		group.Go(func() error { m.followEventKeys(ctx); return nil })
	}
	group.Go(func() error { m.follower.Run(ctx); return nil })
	group.Go(func() error { m.speller.Run(ctx); return nil })
	group.Go(func() error { m.stops.Run(ctx); return nil })
	group.Go(func() error { m.queries.Run(ctx); return nil })
	group.Go(func() error { m.written.run(ctx); return nil })
	group.Go(func() error { return m.watcher.Run(ctx) })
	group.Go(func() error { return m.fanout.Run(ctx, m.log) })
	return group.Wait()
}

// serveCalls serves queries over gRPC until ctx is done.
func (m *Master) serveCalls(ctx context.Context) error {
	server := grpc.NewServer(wire.QueryOptions(func(method string, cause any) {
		m.log.Error("a panic in a call; please report it", "method", method, "cause", cause)
	}, m.queries.ServerOptions()...)...)
	pb.RegisterMasterServer(server, queryserver.New(m.handler))
	return ports.ServeGRPC(ctx, server, m.calls)
}

// database returns the id of the database whose data the master's shards hold, or "" if it has no map yet.
func (m *Master) database() string {
	if now := m.watcher.Current(); now != nil {
		return now.Database
	}
	return ""
}

// Places returns the newest table of places, or nil if the balancer has not announced one yet.
func (m *Master) Places() *places.Table { return m.places.Table() }

// confirm waits until the balancer has told which vocabulary is in force, if this process has been stopped since it last did, or until
// ctx is done.
func (m *Master) confirm(ctx context.Context) {
	m.stops.Check()
	m.speller.Settle(ctx)
}

// vocabulary returns the vocabulary in force, or nil if there is none or it is not certain which it is: a master that was stopped must
// not answer by one that others have replaced.
func (m *Master) vocabulary() search.Vocabulary {
	if m.stops.Check(); !m.speller.Certain() {
		return nil
	}
	if now := m.words.InForce(); now != nil {
		return now
	}
	return nil
}

func (m *Master) countPlaces() float64 {
	if t := m.Places(); t != nil {
		return float64(t.Len())
	}
	return 0
}

// Print prints "grpc ADDR" if queries are taken over gRPC.
func (m *Master) Print(out io.Writer) {
	if m.calls != nil {
		fmt.Fprintf(out, "grpc %s\n", m.calls.Addr())
	}
}

// Ready returns why the master cannot answer. A map of slaves that have been filled is enough, since each answer names the slaves
// that are missing. A table of places that cannot be read is a reason only if there is no older one. A damaged block list is no
// reason, since it would take all masters out of service at once.
func (m *Master) Ready() []string {
	switch now := m.watcher.Current(); {
	case now != nil && now.Filled:
		if m.places.Table() == nil {
			return m.follower.Trouble()
		}
		return nil
	case now != nil:
		return []string{"the slaves are being filled for the first time: " + m.cfg.Name + " has no complete answers yet"}
	}
	why := []string{m.cfg.Name + " has no map of shards yet"}
	if err := m.watcher.Trouble(); err != nil {
		why = append(why, err.Error())
	}
	return why
}

// filled returns 1 once the first fill is complete, and 0 before.
func (m *Master) filled() float64 {
	if now := m.watcher.Current(); now != nil && now.Filled {
		return 1
	}
	return 0
}

const (
	probeEvery = 20 * time.Millisecond
	probeTime  = time.Second
)

// complete waits until a complete answer is possible. It returns false if ctx is done first.
func (m *Master) complete(ctx context.Context) bool {
	for {
		probe, cancel := context.WithTimeout(ctx, probeTime)
		request := &search.Request{Query: new(search.Query), Profile: search.DefaultProfile(), Slots: 1, Reserve: 1}
		if request.Scorer = m.cfg.Models.Asked(); request.Scorer != (search.ScorerID{}) {
			request.Context = &targeting.Context{Time: time.Now()} // so that slaves that lack the model, which would be missing from every answer, are noticed
		}
		answer, err := m.fanout.Search(probe, request)
		cancel()
		if err == nil && answer.Width == search.WholeRing() && len(answer.Missing) == 0 {
			return true
		}
		if wait.Sleep(ctx, probeEvery) != nil {
			return false
		}
	}
}

// placesTime bounds how long the ready line waits for the table of places: a balancer of an earlier version never sends one.
const placesTime = 5 * time.Second

// placed waits until the table of places is there, for at most placesTime.
func (m *Master) placed(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, placesTime)
	defer cancel()
	for m.places.Table() == nil && wait.Sleep(ctx, probeEvery) == nil {
	}
}

// Announce waits until a complete answer is possible, and then prints the ready line.
func (m *Master) Announce(ctx context.Context, out io.Writer) {
	if m.complete(ctx) {
		m.placed(ctx)
		fmt.Fprintf(out, "ready %s\n", m.url())
	}
}

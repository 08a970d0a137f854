package lucene

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"adshard/bench/layouts"
	"adshard/bench/peers/server"
)

// startTime bounds the time of loading.
const startTime = 30 * time.Minute

// Monitor is the layout "lucene": Lucene Monitor.
type Monitor struct{}

// Name implements layouts.Layout.
func (Monitor) Name() string { return "lucene" }

// Provides implements layouts.Layout.
func (Monitor) Provides() layouts.Provides { return layouts.Provides{Matches: true, Sum: true} }

// Build implements layouts.Layout. Options.CacheBytes has no effect: what the
// Monitor verifies is on Java's heap.
func (Monitor) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	p, err := find(ctx)
	if err != nil {
		return nil, err
	}
	keywords := filepath.Join(o.Dir, "keywords")
	if err := writeKeywords(keywords, set); err != nil {
		return nil, err
	}
	progress(o, 0.1)
	sockets, err := server.SocketDir(nil)
	if err != nil {
		return nil, err
	}
	s := &store{sockets: sockets}
	s.process, err = server.Start(server.Config{
		Name: "Lucene Monitor", Program: p.java, Log: filepath.Join(o.Dir, "log"), Orphan: syscall.SIGKILL,
		Args: append(flags(p, set), keywords, s.socket()),
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(sockets))
	}
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	progress(o, 1)
	return s, os.Remove(keywords)
}

func progress(o layouts.Options, done float64) {
	if o.Progress != nil {
		o.Progress(done)
	}
}

const (
	// heapPerKeyword is an upper bound for the size of a query in the Monitor.
	heapPerKeyword = 1536
	// youngMegabytes is the size of the young generation, for the garbage of
	// searches, so that hardly any collection looks at the queries.
	youngMegabytes = 512
)

// flags returns Java's flags (see the package comment).
func flags(p program, set *layouts.Set) []string {
	heap := 2*youngMegabytes + 512 + set.Len()*heapPerKeyword>>20
	return []string{
		fmt.Sprintf("-Xms%dm", heap), fmt.Sprintf("-Xmx%dm", heap), fmt.Sprintf("-Xmn%dm", youngMegabytes),
		"-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError",
		"-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UseCompactObjectHeaders", // Java 25 has them
		"--add-modules", "jdk.incubator.vector",
		"-cp", filepath.Join(p.jars, "*"), "adshard.peers.Main",
	}
}

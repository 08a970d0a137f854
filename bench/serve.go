package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"

	"adshard/barrels"
	"adshard/barrels/index"
	"adshard/internal/node/config"
	"adshard/internal/node/fanout"
	"adshard/internal/node/fanout/choice"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/master"
	"adshard/internal/node/overload"
	"adshard/internal/node/searchapi"
	"adshard/internal/node/shardserver"
	"adshard/internal/node/slave"
	"adshard/search"
)

// onlySlave is the name of the slave.
const onlySlave = "slave-0"

type serveFlags struct{ barrels, addr, memory string }

// ServeCommand returns the subcommand serve, which answers queries from a store
// without a database.
func ServeCommand() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve --barrels DIR",
		Short: "Answer queries over HTTP from one store, without a database or a balancer",
		Long: `Opens one slave's store, such as adbench build makes, and answers queries from it
over HTTP until it is interrupted: a master and its only slave in one process, as in
'adshard up', but nothing changes and nothing moves. With adbench load this measures
stores that are too large to be imported first.`,
		Example: `  adbench build --keywords 10000000 --out store
  adbench serve --barrels store --memory 4GiB
  adbench load --addr http://127.0.0.1:8080 --queries queries.txt --rate 1000`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), c.OutOrStdout()) },
	}
	flags := c.Flags()
	flags.StringVar(&f.barrels, "barrels", "", "the store's directory (required)")
	flags.StringVar(&f.addr, "addr", "127.0.0.1:8080", "where to listen")
	flags.StringVar(&f.memory, "memory", "16GiB", "the memory of the process, as of a slave")
	return c
}

func (f *serveFlags) run(ctx context.Context, out io.Writer) (err error) {
	config.SpareProcessor()
	store, end, err := openStore(ctx, f.barrels, onlySlave, f.memory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	shards, err := alone(store)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", f.addr)
	if err != nil {
		return fmt.Errorf("--addr: %w", err)
	}
	fmt.Fprintf(out, "%d keywords\nready http://%s\n", store.Stats().Keywords, listener.Addr())
	handler := searchapi.New(searchapi.Config{Searcher: fanout.New(shards, nil), Profile: search.DefaultProfile(), Reserve: master.DefaultReserve})
	return httpapi.Serve(ctx, listener, handler)
}

// unattended is the maintenance of a store without writes: it does nothing.
type unattended struct{}

func (unattended) WhyIncomplete() string         { return "" }
func (unattended) Lag() time.Duration            { return 0 }
func (unattended) Discard(_, _ uint64, _ string) {}

// only is the map of a cluster of one slave, which never changes.
type only struct{ *fanout.Map }

// alone returns the map for a store that serves the whole ring.
func alone(store barrels.Store) (only, error) {
	server := shardserver.New(shardserver.Identity{Name: onlySlave}, store, unattended{},
		overload.New(overload.ForSlave(slave.DefaultConfig().MaxInFlight)), nil, nil)
	dial := fanout.Within(func(string) fanout.Local { return server.Local() }, nil)
	table := store.Slices()
	id := search.NewShardID(index.Database(table), table.GetTimeline(), onlySlave)
	s, _, err := dial(fanout.Target{Shard: onlySlave, ID: id})
	if err != nil {
		return only{}, err
	}
	shard := fanout.NewShard(onlySlave, search.Width{}, choice.NewShard(), fanout.NewReplica(onlySlave, s))
	return only{&fanout.Map{Shards: []fanout.Shard{shard}}}, nil
}

// Current and Newer implement fanout.Maps.
func (o only) Current() *fanout.Map { return o.Map }
func (o only) Newer(ctx context.Context, _ *fanout.Map) *fanout.Map {
	<-ctx.Done()
	return nil
}

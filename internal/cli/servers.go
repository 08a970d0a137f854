package cli

import (
	"context"
	"io"
	"log/slog"
	"maps"

	"github.com/spf13/cobra"

	"adshard/internal/node/balancer"
	"adshard/internal/node/distributor"
	"adshard/internal/node/master"
	"adshard/internal/node/slave"
	"adshard/internal/node/up"
)

// keyHelp is what the keys of the configurations are for, by flag.
var keyHelp = map[string]string{
	"admin":                "the admin port: metrics, health, slaves, budgets; empty: none",
	"admin-hosts":          "host names by which the admin port may be called, beside its addresses",
	"advertise":            "the address at which others reach this process; empty: the one listened on",
	"ahead":                "the most buckets that are ready for one slave",
	"balancer":             "the balancer's address",
	"barrels":              "a directory of stores that 'adshard barrels build' made, used in place of --data",
	"budget":               "the share of all groups that the strategy may have on its way, 0 to 1",
	"bucket-bytes":         "the size of a bucket of node data",
	"cache-bytes":          "memory for what a slave has read from disk; 0: the store's default",
	"data":                 "where the slaves keep their stores, one directory each",
	"db":                   databaseHelp,
	"dead-after":           "a slave that was not heard from for so long is not waited for",
	"dir":                  "where the store lies; made if it is missing",
	"discard-data-of":      "ids of databases whose data slaves may discard; without it they are refused",
	"distribute":           "the balancer prepares node data itself, beside distributors of their own",
	"distributors":         "the number of distributors; 0: the balancer prepares node data itself",
	"evacuate-after":       "a slave lost for so long loses its groups to others; 0: never",
	"scrub-interval":       "the time between two comparisons of all that slaves serve with the database; 0: never",
	"scrub-share":          "the share of a core that these comparisons may take, 0 to 1; less makes them last longer",
	"explain":              "where explanations, which show bids, are: public, admin or auto (public on loopback)",
	"grace":                "how long a starting slave waits for a balancer before it serves what it holds",
	"half-life":            "how long it takes until half of an average load is new",
	"http":                 "where queries come in",
	"interval":             "the time between two iterations of the strategy",
	"keep-changes":         "the most changes kept for slaves that are behind; one that needs more is filled again",
	"lexicon":              "the file of synonyms that 'adshard lexicon build' makes; empty: no synonyms",
	"linger":               "how long groups stay where they were after a move: as long as a query may last",
	"listen":               "the address for the other processes",
	"load-weights-looked":  "what a posting looked at counts as load",
	"load-weights-matched": "what a match counts as load",
	"load-weights-micros":  "what a microsecond counts as load",
	"load-counted":         "of how many searches a second the cost is counted; 0: of none",
	"master-lease":         "a master that was not heard from for so long is not waited for",
	"max-in-flight":        "the most searches under way; more are refused at once",
	"name":                 "the process's name, unique in the cluster",
	"node-bytes":           "the most bytes that are ready for one slave",
	"reader-age":           "how long changes are kept for a reader that is not heard from any more",
	"order":                "how groups lie on the ring: advertiser or hash",
	"processes":            "run each part as a child process of its own, so that any can be killed",
	"profile":              "what the match types mean: default or sklik",
	"reserve-micros":       "the least price of a click, in micros",
	"slaves":               "the number of slaves",
	"state-key":            "where the balancer keeps its state in the database",
	"strategy":             "decides what lies where; 'adshard balance strategy' lists them",
	"timeout":              "the time for a query that names none",
	"trusted-distributors": "addresses of distributors that slaves may pull from; none: only those on this machine",
	"weights-ad":           "what an ad weighs in the plan",
	"weights-keyword":      "what a keyword weighs in the plan",
	"weights-lexicon":      "what a distinct keyword text weighs in the plan",
	"workers":              "the buckets built at a time",
	"write-bytes":          "memory for what a slave has not yet written to files; 0: the store's default",
}

// helpOf is keyHelp with what keys are for in this program only.
func helpOf(own map[string]string) map[string]string {
	all := maps.Clone(keyHelp)
	maps.Copy(all, own)
	return all
}

func upCommand(s Streams) *cobra.Command {
	c := up.DefaultConfig()
	command := serve(&cobra.Command{
		Use:   "up --db URL",
		Short: "Run a whole cluster on this machine",
		Long: `Runs a balancer, slaves and a master on this machine, the same code as the separate
programs, with real gRPC between them. The slaves fill themselves from the database
and follow its changes. It prints each address it listens on, and when the cluster is
complete "ready" with the address for queries. It ends cleanly on SIGINT or SIGTERM.`,
		Example: `  adshard up --db sqlite:ads.db
  adshard up --db sqlite:ads.db --slaves 7 --data /var/lib/adshard --http :8080
  adshard up --db sqlite:ads.db --barrels built          on stores made by barrels build
  adshard up --db sqlite:ads.db --processes              a process each
  adshard up --db sqlite:ads.db --print-config >up.yaml  then: adshard up --config up.yaml`,
	}, s, server{config: &c, validate: c.Validate, help: keyHelp,
		run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			if err := checkDatabase(c.DB); err != nil {
				return err
			}
			return up.Run(ctx, c, out, log)
		}})
	return command
}

func masterCommand(s Streams) *cobra.Command {
	c := master.DefaultConfig()
	return serve(&cobra.Command{
		Use:   "master --config FILE",
		Short: "Answer queries over HTTP by asking all slaves",
		Long: `Runs a master: it takes queries over HTTP, asks all slaves at once, and answers with
the auction's result. It keeps no state; run as many as you like.`,
		Example: `  master --print-config >master.yaml
  master --config master.yaml
  master --config master.yaml --http :8080 --balancer 10.0.0.5:7000`,
	}, s, server{config: &c, validate: c.Validate, help: helpOf(map[string]string{
		"slaves": "addresses of some slaves; they give the map of slices while no balancer answers",
	}),
		run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			return master.Run(ctx, c, out, log)
		}})
}

func slaveCommand(s Streams) *cobra.Command {
	c := slave.DefaultConfig()
	return serve(&cobra.Command{
		Use:   "slave --config FILE",
		Short: "Keep a part of the groups and search it",
		Long: `Runs a slave: it keeps a part of the groups in a store on disk, follows their
changes and answers the masters' searches. A slave that was killed goes on where it was.`,
		Example: `  slave --print-config >slave.yaml
  slave --config slave.yaml
  slave --config slave.yaml --name slave-3 --listen 10.0.0.8:7100 --dir /var/lib/adshard/slave-3`,
	}, s, server{config: &c, validate: c.Validate, help: keyHelp,
		run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			return slave.Run(ctx, c, out, log)
		}})
}

func balancerCommand(s Streams) *cobra.Command {
	c := balancer.DefaultConfig()
	return serve(&cobra.Command{
		Use:   "balancer --config FILE",
		Short: "Decide which slave keeps what, and hand out the data",
		Long: `Runs a balancer: it reads the database, decides which slave keeps which groups, and
hands out their data and changes. Queries go on while it is away.`,
		Example: `  balancer --db sqlite:ads.db --print-config >balancer.yaml
  balancer --config balancer.yaml
  balancer --config balancer.yaml --slaves 7`,
	}, s, server{config: &c, validate: c.Validate, help: helpOf(map[string]string{
		"slaves": "the number of slaves that must have joined before the first plan",
	}),
		run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			if err := checkDatabase(c.DB); err != nil {
				return err
			}
			return balancer.Run(ctx, c, out, log)
		}})
}

func distributorCommand(s Streams) *cobra.Command {
	c := distributor.DefaultConfig()
	return serve(&cobra.Command{
		Use:   "distributor --config FILE",
		Short: "Prepare data for slaves beside the balancer",
		Long: `Runs a distributor: it reads the database, follows the balancer's decisions and
prepares data for the slaves that the balancer gives it. Run as many as you like; each
needs a name of its own.`,
		Example: `  distributor --db sqlite:ads.db --print-config >distributor.yaml
  distributor --config distributor.yaml
  distributor --config distributor.yaml --name distributor-1 --listen 10.0.0.6:7200`,
	}, s, server{config: &c, validate: c.Validate, help: keyHelp,
		run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			if err := checkDatabase(c.DB); err != nil {
				return err
			}
			return distributor.Run(ctx, c, out, log)
		}})
}

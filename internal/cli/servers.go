package cli

import (
	"context"
	"io"
	"log/slog"
	"maps"

	"github.com/spf13/cobra"

	"adshard/internal/node/balancer"
	"adshard/internal/node/collector"
	"adshard/internal/node/distributor"
	"adshard/internal/node/master"
)

// keyHelp describes the keys of the configurations, by flag.
var keyHelp = map[string]string{
	"admin":                 "the admin port's address: metrics, health, slaves, budgets; empty: none",
	"admin-hosts":           "host names under which the admin port accepts requests, in addition to its addresses",
	"advertise":             "the address at which other processes reach this one; empty: the address listened on",
	"ahead":                 "the maximum number of buckets prepared ahead for one slave",
	"balancer":              "addresses of all balancers, with commas between them",
	"balancers":             "addresses of all balancers, for slaves added by command; empty: this one's",
	"barrels":               "a directory of stores built by 'adshard barrels build', used instead of --data",
	"budget":                "the share of all ad groups that the strategy may move at once, 0 to 1",
	"bucket-bytes":          "the size of a bucket of node data",
	"collector":             "the address for events, over HTTP, of a collector; empty: none, and answers have no event tokens",
	"control":               "where the lease and the slice map are kept: etcd://HOST:PORT,…/PREFIX; empty: in the database",
	"copy-from":             "the address of a slave whose store is copied if there is none in dir; empty: as the balancer decides",
	"copy-rate":             "the most bytes a second that copies of a store read, or write, such as 256MiB",
	"data":                  "the directory of the slaves' stores, a subdirectory each",
	"db":                    databaseHelp,
	"dead-after":            "how long after its last message a slave counts as lost",
	"dir":                   "the directory of the store; created if it is missing",
	"discard-data-of":       "ids of databases whose data slaves may discard; slaves with data of others are refused",
	"distribute":            "the balancer prepares node data too, in addition to separate distributors",
	"distributors":          "the number of distributors; 0: the balancer prepares node data itself",
	"evacuate-after":        "how long a slave must be lost until its groups go to others; 0: never",
	"scrub-interval":        "the time between two comparisons of all served data with the database; 0: never",
	"scrub-share":           "the share of a core that these comparisons may use, 0 to 1",
	"event-tokens":          "sign a token for each ad, by which a collector counts its impressions and clicks",
	"events":                "the database of events; empty: beside db (a file PATH-events, a schema adshard_events)",
	"event-origins":         "origins of web pages (https://HOST) whose scripts may send events and read the answers (CORS)",
	"adopt-events":          "count in the database of events that is configured here from now on, not in the one that has counted",
	"request-ids":           "which ids queries get: given (the client's, in X-Request-Id) or own",
	"explain":               "the port for explanations (with bids): public, admin or auto (public on loopback)",
	"gc-percent":            "growth of the heap between collections, in percent; GOGC in the environment wins",
	"grace":                 "how long a starting slave waits for the balancer before it serves its data",
	"grpc":                  "the address for queries over gRPC; empty: none",
	"half-life":             "the half-life of load averages",
	"http":                  "the address for queries over HTTP",
	"interval":              "the time between two iterations of the strategy",
	"keep-events":           "how long single events are kept, at least 2h; counts by keyword and day remain",
	"keep-changes":          "the most changes kept for slaves that are behind; slaves further behind are refilled",
	"lexicon":               "the file of synonyms built by 'adshard lexicon build'; empty: no synonyms",
	"learn-every":           "the time between two times that qualities are learned",
	"quality":               "quality of keywords: given, or learned from counted events",
	"linger":                "how long groups stay on their old slave after a move: the longest time of a query",
	"listen":                "the address for the other processes",
	"load-weights-examined": "the load of one posting examined",
	"load-weights-matched":  "the load of one match",
	"load-weights-micros":   "the load of one microsecond",
	"load-counted":          "how many searches a second have their cost counted; 0: none",
	"master-lease":          "how long after its last call a master is waited for",
	"max-in-flight":         "the maximum number of concurrent searches; more are refused at once",
	"memory":                "the memory of the slave's process, or with 'up' of all slaves together, such as 4GiB",
	"name":                  "the process's name, unique in the cluster",
	"node-bytes":            "the maximum number of bytes prepared ahead for one slave",
	"reader-age":            "how long changes are kept for a reader that has stopped reporting",
	"no-restart":            "with --processes: a process that ends is not started again",
	"order":                 "the order of ad groups on the ring: hash or advertiser; empty: the cluster's, for a new one hash",
	"processes":             "run each part as a child process; one that ends is started again",
	"profile":               "what the match types mean: default or sklik",
	"reserve-micros":        "the reserve price of a click, in micros",
	"replicas":              "how many slaves hold each slice",
	"slaves":                "the number of slaves",
	"state-key":             "the key of the balancer's state in the database",
	"strategy":              "the balancing strategy; 'adshard balance strategy' lists them",
	"timeout":               "the time limit of queries that set none",
	"transport":             "how the master asks slaves: direct (in one process), stream, or unary",
	"insecure":              "let ports that other machines can reach, and calls to etcd there, be without TLS",
	"db-insecure":           "let databases on other machines be reached without a check of their certificate",
	"query-log-file":        "record searches and their times here, for adbench to replay; empty: nowhere",
	"query-log-share":       "the share of searches that are recorded, above 0 to 1",
	"query-log-size":        "how large the file of recorded searches may become before a new one is begun",
	"query-log-files":       "how many of these files are kept",
	"slow-queries-after":    "log searches that take this long, with their text; 0: none",
	"rocksdb-statistics":    "have RocksDB count what it does, for metrics; reads from files take longer",
	"traces-endpoint":       "the URL that takes spans of searches, by OTLP over HTTP; empty: nothing is traced",
	"traces-share":          "the share of searches traced, 0 to 1; on a slave, those that its master traces",
	"query-insecure":        "let ports for queries that other machines can reach be without TLS",
	"query-tls-cert":        "the certificate (PEM) of the ports for queries",
	"query-tls-key":         "the key (PEM) of that certificate",
	"query-tls-mode":        "TLS on the ports for queries: off, both (plain too) or required",
	"control-tls-ca":        "the certificates (PEM) of the CAs of etcd's servers; empty: etcd is called without TLS",
	"control-tls-cert":      "the certificate (PEM) with which etcd is called; empty: none",
	"control-tls-key":       "the key (PEM) of that certificate",
	"tls-ca":                "the certificates (PEM) of the cluster's CAs",
	"tls-cert":              "the certificate (PEM) of this process, made by 'adshard cert issue'",
	"tls-key":               "the key (PEM) of that certificate",
	"tls-mode":              "TLS to other programs and on the admin port: off, both (plain too) or required",
	"tokens":                "a file of tokens for the admin port, with lines ROLE NAME TOKEN; empty: none",
	"trusted-slaves":        "addresses and networks of slaves that may copy this store; none: any on this machine or with TLS",
	"trusted-distributors":  "addresses of distributors that slaves may pull from; none: any on this machine or with TLS",
	"weights-ad":            "the weight of an ad in the plan",
	"weights-keyword":       "the weight of a keyword in the plan",
	"weights-lexicon":       "the weight of a distinct keyword text in the plan",
	"zone":                  "what fails together with the slave, such as its host; replicas are in different zones",
	"workers":               "the number of buckets built at a time",
}

// helpOf is keyHelp with the descriptions that differ in one program.
func helpOf(own map[string]string) map[string]string {
	all := maps.Clone(keyHelp)
	maps.Copy(all, own)
	return all
}

func masterCommand(s Streams) *cobra.Command {
	c := master.DefaultConfig()
	return serve(&cobra.Command{
		Use:   "master --config FILE",
		Short: "Answer queries over HTTP by asking all slaves",
		Long: `Runs a master: it accepts queries over HTTP, asks all slaves at once, and answers with
the result of the auction. It keeps no state: run as many as you like, behind a load
balancer.`,
		Example: `  master --print-config >master.yaml
  master --config master.yaml
  master --config master.yaml --http :8080 --query-insecure --balancer 10.0.0.5:7000`,
	}, s, server{config: &c, validate: c.Validate, check: c.CheckStart, help: helpOf(map[string]string{
		"slaves": "addresses of some slaves; they provide the map of slices while no balancer answers",
	}),
		run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			return master.Run(ctx, c, out, log)
		}})
}

func balancerCommand(s Streams) *cobra.Command {
	c := balancer.DefaultConfig()
	return serve(&cobra.Command{
		Use:   "balancer --config FILE",
		Short: "Assign ad groups to slaves and send them the data",
		Long: `Runs the balancer: it reads the database, decides which slave stores which ad groups,
and sends them their data and changes. One leads a cluster; run further ones as standbys,
which take over when it fails. Queries are answered while none leads.`,
		Example: `  balancer --db sqlite:ads.db --print-config >balancer.yaml
  balancer --config balancer.yaml
  balancer --config balancer.yaml --slaves 7`,
	}, s, server{config: &c, validate: c.Validate, check: c.CheckStart, database: &c.DB, help: helpOf(map[string]string{
		"slaves": "the number of slaves that must have joined before the first plan",
	}),
		run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			return balancer.Run(ctx, c, out, log)
		}})
}

func distributorCommand(s Streams) *cobra.Command {
	c := distributor.DefaultConfig()
	return serve(&cobra.Command{
		Use:   "distributor --config FILE",
		Short: "Prepare data for slaves, in addition to the balancer",
		Long: `Runs a distributor: it reads the database, follows the balancer's decisions and
prepares data for the slaves that the balancer assigns to it. Run as many as you like
when preparing data is the bottleneck; each needs its own name.`,
		Example: `  distributor --db sqlite:ads.db --print-config >distributor.yaml
  distributor --config distributor.yaml
  distributor --config distributor.yaml --name distributor-1 --listen 127.0.0.1:7201`,
	}, s, server{config: &c, validate: c.Validate, check: c.CheckStart, database: &c.DB, help: keyHelp,
		run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			return distributor.Run(ctx, c, out, log)
		}})
}

func collectorCommand(s Streams) *cobra.Command {
	c := collector.DefaultConfig()
	return serve(&cobra.Command{
		Use:   "collector --db URL",
		Short: "Count impressions and clicks of ads that were served",
		Long: `Runs a collector: it takes impressions and clicks over HTTP, with the tokens that masters
sign when event_tokens is set, counts each once, and marks campaigns as exhausted that
have spent the budget of their day. Run as many as you like on one database of
events; each needs its own name.`,
		Example: `  adshard collector --db sqlite:ads.db
  adshard collector --db "postgres://collector@db/ads?sslmode=verify-full" --http :8090 --query-insecure
  curl -d '{"events":[{"kind":"click","token":"…"}]}' -H 'Content-Type: application/json' http://127.0.0.1:8090/v1/events`,
	}, s, server{config: &c, validate: c.Validate, check: c.CheckStart, database: &c.DB, help: helpOf(map[string]string{
		"http":           "the address for events",
		"max-in-flight":  "the maximum number of batches at once; more are refused at once",
		"query-insecure": "let the port for events be without TLS where other machines can reach it",
		"query-tls-cert": "the certificate (PEM) of the port for events",
		"query-tls-mode": "TLS on the port for events: off, both (plain too) or required",
	}),
		run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			return collector.Run(ctx, c, out, log)
		}})
}

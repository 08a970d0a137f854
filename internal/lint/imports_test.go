// Package lint has the rules of the code as tests: which package may import which, and why others must not.
package lint

import (
	"os"
	"slices"
	"strings"
	"testing"

	"adshard/internal/lint/source"
)

// belowNode lists the packages from which processes are built; nodeParts lists those that several processes share.
// The order of the table decides which of these may import which.
var (
	belowNode = []string{
		"fault", "schema", "search", "targeting", "auction", "barrels", "balance", "backend", "loadproxy", "internal/wait", "internal/version", "internal/near", "internal/outfile", "internal/money", "internal/shell", "internal/ulimit", "events", "quality", "places", "blocklist", "scorer",
	}
	nodeParts = []string{
		"internal/node/access", "internal/node/admin", "internal/node/admission", "internal/node/background", "internal/node/certs", "internal/node/config", "internal/node/conns", "internal/node/console", "internal/node/control",
		"internal/node/copying", "internal/node/data", "internal/node/database", "internal/node/documents", "internal/node/documentserver",
		"internal/node/fanout", "internal/node/feed", "internal/node/health", "internal/node/history", "internal/node/home", "internal/node/httpapi", "internal/node/metrics",
		"internal/node/identity", "internal/node/memlimit", "internal/node/overload", "internal/node/ports", "internal/node/preflight", "internal/node/querylog", "internal/node/queryserver", "internal/node/remote", "internal/node/scorers", "internal/node/searchapi",
		"internal/node/shardserver", "internal/node/slicemap", "internal/node/spend", "internal/node/stream", "internal/node/survey", "internal/node/tracing", "internal/node/traffic", "internal/node/truth", "internal/node/vocabulary",
		"internal/node/wire",
	}
)

func with(list []string, more ...string) []string { return append(slices.Clone(list), more...) }

// rules is docs/architecture.md's table of packages, read from top to bottom. A package may import itself and the
// packages of this module that its rule names, with all packages below them. The first rule whose prefix matches
// applies. A package must not import the keys of never, or anything below them, nor use a name among them such as
// os.ReadFile; aClock and source.Go stand for several uses.
var rules = []struct {
	pkg   string   // a package, or, with /…, also all packages below it
	may   []string // packages of this module
	never map[string]string
}{
	{pkg: "fault"},
	{pkg: "schema/…"},
	{pkg: "internal/wait", may: []string{"fault"}},
	{pkg: "internal/version"},
	{pkg: "internal/money"},
	{pkg: "internal/near"},
	{pkg: "internal/progress"},
	{pkg: "internal/shell"},
	{pkg: "internal/outfile", may: []string{"fault", "internal/shell"}},
	{pkg: "internal/ulimit", may: []string{"fault"}},
	{pkg: "internal/pgserver", may: []string{"fault", "internal/ulimit"}},
	{pkg: "internal/sizing", may: []string{"fault"}},
	{pkg: "targeting/zone", may: []string{"fault"}, never: map[string]string{
		"os": "zones are a part of the program", "time.LoadLocation": "it prefers the zones of the machine",
	}},
	{pkg: "targeting/message", may: []string{"schema", "targeting"}},
	{pkg: "targeting", may: []string{"fault"}, never: map[string]string{
		"os": "targeting is pure", "net": "targeting is pure", "log": "targeting is pure", "context": "targeting does not wait",
		aClock: "the time comes with the request", "time.LoadLocation": "a zone may be a file: the caller has it",
		"sync": "a request is judged by one goroutine", source.Go: "targeting starts no goroutine",
	}},
	{pkg: "search/words/lexicon", may: []string{"fault", "search", "targeting", "internal/outfile", "internal/shell"}},
	{pkg: "search/…", may: []string{"fault", "targeting", "internal/near"}, never: map[string]string{
		"os":                          "a search knows no files: search/words/lexicon opens those of synonyms",
		"io/fs":                       "a search knows no files",
		"google.golang.org/grpc":      "a search knows no network: wire types live in internal/node",
		"net":                         "a search knows no network",
		"database/sql":                "a search knows no storage",
		"github.com/linxGnu/grocksdb": "search is words, rules and contracts: stores are below barrels",
	}},
	{pkg: "places", may: []string{"fault", "search", "targeting"}, never: map[string]string{
		"os": "a table is made of rows: ingest reads files", "net": "a table is pure", "context": "a table does not wait",
		aClock: "a table has no time", source.Go: "a table starts no goroutine",
	}},
	{pkg: "auction", never: map[string]string{
		"os": "the auction is pure", "io": "the auction is pure", "net": "the auction is pure", "log": "the auction is pure",
		"time": "the auction reads no clock", "context": "the auction does not wait",
		"sync": "the auction shares nothing", source.Go: "the auction starts no goroutine",
		"math/rand": "the auction is reproducible", "crypto/rand": "the auction is reproducible",
	}},
	{pkg: "scorer", may: []string{"fault", "search", "targeting", "auction"}, never: map[string]string{
		"os": "a model is bytes", "net": "a model is bytes", "context": "a model does not wait", aClock: "the time comes with the request",
		"sync": "a model does not change", source.Go: "a model starts no goroutine",
		"math/rand": "scores are reproducible", "crypto/rand": "scores are reproducible",
	}},
	{pkg: "budget", may: []string{"fault"}, never: map[string]string{
		"os": "pacing is pure", "io": "pacing is pure", "net": "pacing is pure", "log": "pacing is pure",
		"time.LoadLocation": "a zone may be a file: the caller has it",
		aClock:              "pacing gets the time", "context": "pacing does not wait",
		"sync": "pacing shares nothing", source.Go: "pacing starts no goroutine",
		"math/rand": "pacing is reproducible", "crypto/rand": "pacing is reproducible",
	}},
	{pkg: "quality/countfile", may: []string{"fault", "search", "targeting", "auction", "quality"}, never: map[string]string{"os.ReadFile": "a file may be larger than memory", "io.ReadAll": "a file may be larger than memory"}},
	{pkg: "quality/revise", may: []string{"fault", "search", "targeting", "backend", "internal/wait", "quality"}},
	{pkg: "quality/train", may: []string{"fault", "search", "auction", "scorer", "quality"}, never: map[string]string{
		"os": "a model follows from counts alone", "io": "a model follows from counts alone", "net": "a model follows from counts alone",
		"context": "training does not wait", aClock: "days come with the counts", "sync": "a set has one owner", source.Go: "training starts no goroutine",
		"math/rand": "what was trained is reproducible", "crypto/rand": "what was trained is reproducible",
	}},
	{pkg: "quality", may: []string{"fault"}, never: map[string]string{
		"os": "what was learned follows from counts alone", "io": "what was learned follows from counts alone", "net": "what was learned follows from counts alone",
		"time": "days come with the counts", "context": "learning does not wait",
		"sync": "a model does not change", source.Go: "learning starts no goroutine",
		"math/rand": "what was learned is reproducible", "crypto/rand": "what was learned is reproducible",
	}},
	{pkg: "balance/…", may: []string{"fault", "barrels/certify", "internal/near"}, never: map[string]string{
		"google.golang.org/grpc": "the core is messages in, messages out",
		"os":                     "the core does no I/O",
		"net":                    "the core does no I/O",
		"context":                "the core never waits",
		aClock:                   "the core gets the time in messages",
		"sync":                   "the core has one owner and starts no goroutine",
		source.Go:                "the core has one owner and starts no goroutine",
		"math/rand":              "the core is reproducible: seeds come in by configuration",
		"crypto/rand":            "the core is reproducible: seeds come in by configuration",
	}},
	{pkg: "barrels/certify"},
	{pkg: "barrels/kv", may: []string{"fault"}},
	{pkg: "barrels/memory", may: []string{"barrels/kv"}},
	{pkg: "barrels/rocks", may: []string{"fault", "internal/ulimit", "barrels/kv"}},
	{pkg: "barrels/block", may: []string{"schema", "search", "targeting", "auction"}},
	{pkg: "barrels/record", may: []string{"fault", "schema", "search", "targeting", "barrels/block", "barrels/certify"}},
	{pkg: "barrels/page", may: []string{"schema", "search", "targeting", "barrels/block", "barrels/record"}},
	{pkg: "barrels/index", may: []string{"fault", "schema", "search", "targeting", "barrels/kv", "barrels/block", "barrels/record", "barrels/page", "barrels/certify"}},
	{pkg: "barrels/load", may: []string{"schema", "balance/splitkey", "barrels/certify", "barrels/block", "barrels/index"}},
	{pkg: "barrels/query", may: []string{
		"fault", "schema", "search", "targeting", "auction", "barrels/kv", "barrels/block", "barrels/record", "barrels/page", "barrels/index", "barrels/load",
	}},
	{pkg: "barrels/bulk", may: []string{
		"fault", "schema", "search", "barrels/kv", "barrels/block", "barrels/record", "barrels/page", "barrels/index",
	}},
	{pkg: "barrels/barreltest", may: []string{"fault", "schema", "search", "targeting", "auction", "scorer", "barrels", "backend", "balance", "ingest", "internal/oracle", "internal/corpus"}},
	{pkg: "barrels/…", may: []string{"fault", "schema", "search", "targeting", "auction"}, never: map[string]string{
		"adshard/barrels/memory": "a store is on any key-value store: its caller opens one",
		"adshard/barrels/rocks":  "a store is on any key-value store: its caller opens one",
	}},
	{pkg: "backend/fields/gen", may: []string{"backend/fields"}},
	{pkg: "backend/fields", may: nil},
	{pkg: "blocklist", may: []string{"fault", "targeting", "backend"}},
	{pkg: "backend/transfer", may: []string{"fault", "backend", "blocklist"}},
	{pkg: "backend/nodedata", may: []string{"fault", "schema", "search", "targeting", "balance", "backend"}},
	{pkg: "backend/…", may: []string{"fault", "search", "targeting", "internal/wait", "internal/outfile", "internal/ulimit", "internal/pgserver"}},
	{pkg: "ingest/…", may: []string{"fault", "search", "targeting", "places", "blocklist", "backend", "internal/wait", "internal/near", "internal/money"}, never: map[string]string{
		"os.ReadFile": "a file may be larger than memory", "io.ReadAll": "a file may be larger than memory",
	}},
	{pkg: "loadproxy/…", may: []string{"fault", "schema", "search", "targeting", "barrels", "internal/wait"}},
	{pkg: "counters/store/storetest", may: []string{"fault", "counters/store"}},
	{pkg: "counters/store/…", may: []string{"fault", "internal/ulimit", "internal/pgserver"}, never: map[string]string{aClock: noTime}},
	{pkg: "counters/gen/…", may: []string{"counters", "internal/outfile"}},
	{pkg: "counters", may: []string{"fault", "internal/wait", "counters/store"}, never: map[string]string{aClock: noTime}},
	{pkg: "events/token", may: []string{"fault"}, never: map[string]string{
		aClock: "tokens get the time with each call", "net": "a token is bytes", "os": "a token is bytes", "context": "a token never waits",
		"crypto/rand": "secrets come from the caller", "math/rand": "tokens are reproducible",
	}},
	{pkg: "events/store/storetest", may: []string{"fault", "events/store", "events/token"}},
	{pkg: "events/store/…", may: []string{"fault", "events/token", "internal/ulimit", "internal/pgserver"}, never: map[string]string{aClock: "what is forgotten is said by the caller"}},
	{pkg: "events/report", may: []string{"fault", "search", "targeting", "backend", "events/store", "events/token"}, never: map[string]string{aClock: "the range of a report is given"}},
	{pkg: "events", may: []string{"fault", "budget", "events/store", "events/token"}, never: map[string]string{aClock: "a process gives its clock, so that tests can"}},
	{pkg: "internal/oracle/…", may: []string{"fault", "search", "targeting", "auction", "backend"}},
	{pkg: "internal/corpus", may: []string{"search", "targeting"}},
	{pkg: "internal/node/fanout/choice", may: []string{"search", "targeting", "barrels/certify"}, never: map[string]string{
		"net": "a choice takes events", "context": "a choice does not wait", aClock: "a choice gets the time with events",
		source.Go: "a choice starts no goroutine", "math/rand": "a choice gets its random numbers, so that it is reproducible",
	}},
	{pkg: "internal/node/control/…", may: []string{"fault", "backend", "internal/wait"}, never: map[string]string{
		"time.Unix": aLease, "time.Date": aLease, "time.Parse": aLease, "time.RFC3339": aLease,
	}},
	{pkg: "client", may: []string{"internal/node/httpapi"}},
	{pkg: "internal/node/up", may: with(belowNode, "internal/node")},
	{pkg: "internal/node/balancer", may: with(belowNode, append(nodeParts, "internal/node/distributor")...)},
	{pkg: "internal/node/distributor", may: with(belowNode, nodeParts...)},
	{pkg: "internal/node/collector", may: with(with(belowNode, "budget"), nodeParts...)},
	{pkg: "internal/node/slave", may: with(belowNode, nodeParts...)},
	{pkg: "internal/node/master", may: with(belowNode, nodeParts...)},
	{pkg: "internal/node/offline", may: with(belowNode, nodeParts...)},
	{pkg: "internal/node/overload", may: []string{"fault"}},
	{pkg: "internal/node/spend", may: []string{"fault", "targeting", "backend", "budget", "events", "internal/node/database"}},
	{pkg: "internal/node/traffic", may: []string{"fault", "schema"}},
	{pkg: "internal/node/data", may: with(belowNode, append(nodeParts, "ingest")...)},
	{pkg: "internal/node/…", may: with(belowNode, nodeParts...)},
	{pkg: "internal/cli/cmdline", may: []string{
		"fault", "search", "targeting", "internal/version", "internal/near", "internal/outfile", "internal/shell", "internal/node/config", "internal/node/database",
	}},
	{pkg: "internal/cli/terminal", may: []string{"fault", "internal/wait", "internal/progress", "internal/cli/cmdline"}},
	{pkg: "internal/cli/apiclient", may: []string{
		"fault", "internal/node/access", "internal/node/certs", "internal/node/httpapi", "internal/cli/cmdline", "internal/cli/terminal",
	}},
	{pkg: "internal/cli/…", may: []string{
		"fault", "schema", "search", "targeting", "places", "blocklist", "auction", "barrels", "balance", "backend", "ingest", "internal/node",
		"internal/wait", "internal/progress", "internal/sizing", "internal/version", "internal/near", "internal/money", "internal/outfile", "internal/shell", "quality", "events",
	}},
	{pkg: "cmd/…", may: []string{"fault", "internal/cli"}},
	{pkg: "bench/…", may: []string{
		"fault", "schema", "search", "targeting", "auction", "barrels", "balance", "backend", "ingest", "internal/node", "internal/oracle", "internal/corpus",
		"internal/wait", "internal/progress", "internal/sizing", "internal/outfile", "internal/overlay", "counters", "quality", "scorer",
	}},
	{pkg: "internal/…", may: []string{
		"fault", "schema", "search", "targeting", "places", "blocklist", "auction", "barrels", "balance", "backend", "ingest", "loadproxy", "internal",
	}},
}

// bans apply to every package except those listed in but.
var bans = []struct {
	imported, why string
	but           []string
}{
	{"github.com/linxGnu/grocksdb", "one package owns the handles of RocksDB, so that none leaks", []string{"barrels/rocks", "bench"}},
	{"C", "cgo stays in one place, so that all else builds and cross-compiles with Go alone", []string{"barrels/rocks", "bench"}},
	{"modernc.org/sqlite", "other packages read through backend's contracts", []string{"backend/sqlite", "counters/store/sqlite", "events/store/sqlite"}},
	{"zombiezen.com/go/sqlite", "other packages read through backend's contracts", []string{"backend/sqlite", "counters/store/sqlite", "events/store/sqlite"}},
	{"github.com/cockroachdb/pebble", "the product's stores are RocksDB; others are there to be measured", []string{"bench/layouts/pebbledb"}},
	{"github.com/blevesearch/bleve", "a peer, there to be measured", []string{"bench/peers/bleve"}},
	{"capnproto.org/go/capnp", "an alpha, there to be measured", []string{"bench/layouts/rdb"}},
	{"github.com/jackc/pgx", "other packages read through backend's contracts", []string{"backend/postgres", "backend/pgtest", "counters/store/postgres", "events/store/postgres", "internal/pgserver", "bench/peers/postgres"}},
	{"go.etcd.io/etcd", "other packages read through the contract of control", []string{"internal/node/control/inetcd", "internal/node/control/etcdtest"}},
	{"github.com/spf13/cobra", "flags are read in cmd and internal/cli only", []string{"cmd", "internal/cli", "bench", "internal/outfile/outfiletest"}},
	{"github.com/yuin/goldmark", "it draws the documents, and is in no program", []string{"internal/site"}},
	{"flag", "flags are read in cmd and internal/cli only", []string{"cmd", "internal/cli", "bench", "internal/outfile/outfiletest"}},
	{"log", "structured logs go through log/slog", nil},
	{"adshard/bench", "the product does not depend on what measures it", []string{"bench"}},
	{"adshard/internal/oracle", "the product does not depend on what tests it", []string{"internal/oracle", "internal/clustertest", "barrels/barreltest", "bench"}},
	{"adshard/internal/node/control/inmemory", "the product does not depend on what tests it", []string{"internal/node/control/inmemory", "internal/node/control/controltest"}},
	{"adshard/internal/corpus", "the product does not depend on what tests it", []string{"internal/corpus", "barrels/barreltest", "bench"}},
	{"adshard/internal/lint", "the product does not depend on what tests it", []string{"internal/lint"}},
}

// testOnly lists imports for tests and for packages named …test only, which themselves are also only for tests.
var testOnly = []string{"testing", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/hanwen/go-fuse", "github.com/anishathalye/porcupine", "github.com/chromedp"}

const oneWay = "dependencies go one way, from the ground up (docs/architecture.md)"

const noTime = "counters are right whatever clocks say: ids and versions are random (docs/decisions/028-counters.md)"

const aLease = "a lease has no time in it: the clocks of two machines are never compared"

// aClock stands for everything that reads the wall clock or waits for a time.
const aClock = "a clock"

var clock = []string{
	"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc",
	"time.NewTimer", "time.NewTicker", "time.Tick", "time.*",
}

func TestImports(t *testing.T) {
	for _, p := range read(t).Packages {
		for _, f := range faultsOf(p) {
			t.Errorf("%s must not use %s: %s", p.Path, f.used, f.why)
		}
	}
}

// TestLayers compares the imports with the order of docs/architecture.md's table.
func TestLayers(t *testing.T) {
	page, err := os.Open("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = page.Close() }() // only read
	tree := read(t)
	layers, err := tree.ReadLayers(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range layers.Unplaced(tree) {
		t.Errorf("%s has no row in the table of docs/architecture.md", pkg)
	}
	for _, a := range layers.Upward(tree) {
		t.Errorf("%s imports %s, which stands above it in the table of docs/architecture.md", a.From, a.To)
	}
}

func read(t *testing.T) *source.Tree {
	t.Helper()
	tree, err := source.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// fault is a use of something that a rule forbids.
type fault struct{ used, rule, why string }

// faultsOf returns the forbidden imports and uses in the production files of a package.
func faultsOf(p *source.Package) (out []fault) {
	files := p.Production()
	for _, used := range slices.Concat(source.Imports(files), source.Uses(files)) {
		out = append(out, faults(p.Path, used)...)
	}
	return out
}

// faults returns the rules that forbid a package to import or use something.
func faults(pkg, used string) (out []fault) {
	for _, b := range bans {
		// "log" does not cover log/slog, but a path of several elements covers the packages below it.
		same := used == b.imported || strings.Contains(b.imported, "/") && source.Under(used, b.imported)
		if same && !slices.ContainsFunc(b.but, func(p string) bool { return source.Under(pkg, p) }) {
			out = append(out, fault{used, "ban " + b.imported, b.why})
		}
	}
	for _, only := range testOnly {
		if source.Under(used, only) && !source.TestSupport(pkg) {
			out = append(out, fault{used, "tests " + only, "test support lies in packages named …test"})
		}
	}
	ours, isOurs := strings.CutPrefix(used, source.Module+"/")
	if isOurs && source.TestSupport(ours) && !source.TestSupport(pkg) {
		out = append(out, fault{used, "tests …test", "packages named …test are only for tests"})
	}
	for _, r := range rules {
		own := strings.TrimSuffix(r.pkg, "/…")
		if !source.Under(pkg, own) {
			continue
		}
		for ban, why := range r.never {
			if source.Under(used, ban) || ban == aClock && slices.Contains(clock, used) {
				out = append(out, fault{used, r.pkg + " never " + ban, why})
			}
		}
		if isOurs && !source.Under(ours, own) && !slices.ContainsFunc(r.may, func(p string) bool { return source.Under(ours, p) }) {
			out = append(out, fault{used, r.pkg + " may", oneWay})
		}
		return out
	}
	return append(out, fault{used, "place", "the package has no place in the table of docs/architecture.md"})
}

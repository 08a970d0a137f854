package lint

import (
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"adshard/internal/lint/source"
)

// broken lists for each rule a package and what it must not import or use. For the rules of which package may import
// which, it has only some examples.
var broken = []struct{ pkg, used, rule string }{
	{"fault", "adshard/schema", "fault may"},
	{"schema/pb", "adshard/fault", "schema/… may"},
	{"internal/wait", "adshard/search", "internal/wait may"},
	{"internal/version", "adshard/fault", "internal/version may"},
	{"internal/progress", "adshard/fault", "internal/progress may"},
	{"internal/outfile", "adshard/backend", "internal/outfile may"},
	{"search", "adshard/barrels", "search/… may"},
	{"search", "adshard/auction", "search/… may"},
	{"search/words", "os", "search/… never os"},
	{"search", "io/fs", "search/… never io/fs"},
	{"search/words/lexicon", "adshard/barrels", "search/words/lexicon may"},
	{"search/words", "google.golang.org/grpc/codes", "search/… never google.golang.org/grpc"},
	{"search", "net/http", "search/… never net"},
	{"search", "database/sql", "search/… never database/sql"},
	{"search", "github.com/linxGnu/grocksdb", "search/… never github.com/linxGnu/grocksdb"},
	{"auction", "adshard/search", "auction may"},
	{"auction", "os/exec", "auction never os"},
	{"auction", "io", "auction never io"},
	{"auction", "net/http", "auction never net"},
	{"auction", "log/slog", "auction never log"},
	{"auction", "time", "auction never time"},
	{"auction", "context", "auction never context"},
	{"auction", "sync/atomic", "auction never sync"},
	{"auction", source.Go, "auction never go"},
	{"auction", "math/rand/v2", "auction never math/rand"},
	{"auction", "crypto/rand", "auction never crypto/rand"},
	{"scorer", "adshard/barrels", "scorer may"},
	{"scorer", "os.ReadFile", "scorer never os"},
	{"scorer", "net/http", "scorer never net"},
	{"scorer", "context", "scorer never context"},
	{"scorer", "time.Now", "scorer never a clock"},
	{"scorer", "sync/atomic", "scorer never sync"},
	{"scorer", source.Go, "scorer never go"},
	{"scorer", "math/rand/v2", "scorer never math/rand"},
	{"scorer", "crypto/rand", "scorer never crypto/rand"},
	{"budget", "adshard/auction", "budget may"},
	{"budget", "os", "budget never os"},
	{"budget", "io/fs", "budget never io"},
	{"budget", "net/http", "budget never net"},
	{"budget", "log/slog", "budget never log"},
	{"targeting/zone", "os.Open", "targeting/zone never os"},
	{"targeting/zone", "time.LoadLocation", "targeting/zone never time.LoadLocation"},
	{"targeting", source.Go, "targeting never go"},
	{"targeting", "os.Open", "targeting never os"},
	{"targeting", "net.Dial", "targeting never net"},
	{"targeting", "log.Print", "targeting never log"},
	{"targeting", "context.Background", "targeting never context"},
	{"targeting", "time.Now", "targeting never a clock"},
	{"targeting", "time.LoadLocation", "targeting never time.LoadLocation"},
	{"targeting", "sync.Once", "targeting never sync"},
	{"places", "adshard/backend", "places may"},
	{"places", "os.Open", "places never os"},
	{"places", "net/http", "places never net"},
	{"places", "context", "places never context"},
	{"places", "time.Now", "places never a clock"},
	{"places", source.Go, "places never go"},
	{"budget", "time.LoadLocation", "budget never time.LoadLocation"},
	{"budget", "time.Now", "budget never a clock"},
	{"budget", "context", "budget never context"},
	{"budget", "sync/atomic", "budget never sync"},
	{"budget", source.Go, "budget never go"},
	{"budget", "math/rand/v2", "budget never math/rand"},
	{"budget", "crypto/rand", "budget never crypto/rand"},
	{"quality/countfile", "adshard/backend", "quality/countfile may"},
	{"quality/countfile", "os.ReadFile", "quality/countfile never os.ReadFile"},
	{"quality/countfile", "io.ReadAll", "quality/countfile never io.ReadAll"},
	{"quality/revise", "adshard/ingest", "quality/revise may"},
	{"quality/train", "adshard/backend", "quality/train may"},
	{"quality/train", "os", "quality/train never os"},
	{"quality/train", "io", "quality/train never io"},
	{"quality/train", "net/http", "quality/train never net"},
	{"quality/train", "context", "quality/train never context"},
	{"quality/train", "time.Now", "quality/train never a clock"},
	{"quality/train", "sync/atomic", "quality/train never sync"},
	{"quality/train", source.Go, "quality/train never go"},
	{"quality/train", "math/rand/v2", "quality/train never math/rand"},
	{"quality/train", "crypto/rand", "quality/train never crypto/rand"},
	{"quality", "adshard/auction", "quality may"},
	{"quality", "os", "quality never os"},
	{"quality", "io", "quality never io"},
	{"quality", "net/http", "quality never net"},
	{"quality", "time", "quality never time"},
	{"quality", "context", "quality never context"},
	{"quality", "sync/atomic", "quality never sync"},
	{"quality", source.Go, "quality never go"},
	{"quality", "math/rand/v2", "quality never math/rand"},
	{"quality", "crypto/rand", "quality never crypto/rand"},
	{"balance", "adshard/barrels", "balance/… may"},
	{"balance", "google.golang.org/grpc", "balance/… never google.golang.org/grpc"},
	{"balance/strategy", "os/exec", "balance/… never os"},
	{"balance", "net/http", "balance/… never net"},
	{"balance/sim", "context", "balance/… never context"},
	{"balance", "time.Now", "balance/… never a clock"},
	{"balance/sim", "time.Sleep", "balance/… never a clock"},
	{"balance", "time.NewTimer", "balance/… never a clock"},
	{"balance", "sync/atomic", "balance/… never sync"},
	{"balance", source.Go, "balance/… never go"},
	{"balance/strategy", "math/rand/v2", "balance/… never math/rand"},
	{"balance", "crypto/rand", "balance/… never crypto/rand"},
	{"barrels/certify", "adshard/balance", "barrels/certify may"},
	{"barrels/kv", "adshard/schema/pb", "barrels/kv may"},
	{"barrels/memory", "adshard/barrels", "barrels/memory may"},
	{"barrels/rocks", "adshard/barrels/bulk", "barrels/rocks may"},
	{"barrels/block", "adshard/barrels/kv", "barrels/block may"},
	{"barrels/record", "adshard/barrels/page", "barrels/record may"},
	{"barrels/page", "adshard/barrels/kv", "barrels/page may"},
	{"barrels/index", "adshard/barrels/load", "barrels/index may"},
	{"barrels/load", "adshard/barrels/page", "barrels/load may"},
	{"barrels/query", "adshard/backend", "barrels/query may"},
	{"barrels/bulk", "adshard/barrels/query", "barrels/bulk may"},
	{"barrels/barreltest", "adshard/internal/node", "barrels/barreltest may"},
	{"barrels", "adshard/balance", "barrels/… may"},
	{"barrels", "adshard/barrels/memory", "barrels/… never adshard/barrels/memory"},
	{"barrels", "adshard/barrels/rocks", "barrels/… never adshard/barrels/rocks"},
	{"backend/fields", "adshard/backend", "backend/fields may"},
	{"backend/fields/gen", "adshard/backend", "backend/fields/gen may"},
	{"backend/nodedata", "adshard/barrels", "backend/nodedata may"},
	{"backend/sqlite", "adshard/balance", "backend/… may"},
	{"ingest", "adshard/internal/node", "ingest/… may"},
	{"ingest", "os.ReadFile", "ingest/… never os.ReadFile"},
	{"ingest", "io.ReadAll", "ingest/… never io.ReadAll"},
	{"loadproxy", "adshard/backend", "loadproxy/… may"},
	{"counters/store/storetest", "adshard/counters", "counters/store/storetest may"},
	{"counters/store/sqlite", "adshard/counters", "counters/store/… may"},
	{"counters/store/postgres", "time.Now", "counters/store/… never a clock"},
	{"counters/gen", "adshard/backend", "counters/gen/… may"},
	{"counters", "adshard/backend", "counters may"},
	{"counters", "time.Sleep", "counters never a clock"},
	{"events/token", "adshard/backend", "events/token may"},
	{"events/token", "time.Now", "events/token never a clock"},
	{"events/token", "net/http", "events/token never net"},
	{"events/token", "os", "events/token never os"},
	{"events/token", "context", "events/token never context"},
	{"events/token", "crypto/rand", "events/token never crypto/rand"},
	{"events/token", "math/rand/v2", "events/token never math/rand"},
	{"events/store/storetest", "adshard/events", "events/store/storetest may"},
	{"events/store/sqlite", "adshard/events", "events/store/… may"},
	{"events/store/sqlite", "time.Now", "events/store/… never a clock"},
	{"events/report", "adshard/budget", "events/report may"},
	{"events/report", "time.Now", "events/report never a clock"},
	{"events", "adshard/backend", "events may"},
	{"events", "time.Since", "events never a clock"},
	{"internal/oracle", "adshard/barrels", "internal/oracle/… may"},
	{"internal/corpus", "adshard/barrels", "internal/corpus may"},
	{"internal/node/control/indatabase", "adshard/internal/node/wire", "internal/node/control/… may"},
	{"internal/node/control/indatabase", "time.Unix", "internal/node/control/… never time.Unix"},
	{"internal/node/control/indatabase", "time.Date", "internal/node/control/… never time.Date"},
	{"internal/node/control/indatabase", "time.Parse", "internal/node/control/… never time.Parse"},
	{"internal/node/control/indatabase", "time.RFC3339", "internal/node/control/… never time.RFC3339"},
	{"internal/node/up", "adshard/ingest", "internal/node/up may"},
	{"internal/node/balancer", "adshard/internal/node/master", "internal/node/balancer may"},
	{"internal/node/distributor", "adshard/internal/node/balancer", "internal/node/distributor may"},
	{"internal/node/collector", "adshard/internal/node/master", "internal/node/collector may"},
	{"internal/node/slave", "adshard/internal/node/balancer", "internal/node/slave may"},
	{"internal/node/master", "adshard/internal/node/slave", "internal/node/master may"},
	{"internal/node/offline", "adshard/internal/node/balancer", "internal/node/offline may"},
	{"internal/node/fanout/choice", "adshard/fault", "internal/node/fanout/choice may"},
	{"internal/node/fanout/choice", "net/http", "internal/node/fanout/choice never net"},
	{"internal/node/fanout/choice", "context", "internal/node/fanout/choice never context"},
	{"internal/node/fanout/choice", "time.Now", "internal/node/fanout/choice never a clock"},
	{"internal/node/fanout/choice", source.Go, "internal/node/fanout/choice never go"},
	{"internal/node/fanout/choice", "math/rand/v2", "internal/node/fanout/choice never math/rand"},
	{"internal/node/wire", "adshard/ingest", "internal/node/… may"},
	{"internal/cli/cmdline", "adshard/internal/node/slave", "internal/cli/cmdline may"},
	{"internal/cli/terminal", "adshard/internal/cli/apiclient", "internal/cli/terminal may"},
	{"internal/cli/apiclient", "adshard/internal/node/balancer", "internal/cli/apiclient may"},
	{"internal/cli", "adshard/loadproxy", "internal/cli/… may"},
	{"cmd/adshard", "adshard/internal/node", "cmd/… may"},
	{"bench", "adshard/loadproxy", "bench/… may"},
	{"internal/audit", "adshard/bench", "internal/… may"},

	{"barrels/memory", "github.com/linxGnu/grocksdb", "ban github.com/linxGnu/grocksdb"},
	{"barrels", "C", "ban C"},
	{"ingest", "modernc.org/sqlite/lib", "ban modernc.org/sqlite"},
	{"internal/node", "zombiezen.com/go/sqlite", "ban zombiezen.com/go/sqlite"},
	{"barrels/rocks", "github.com/cockroachdb/pebble/v2/sstable", "ban github.com/cockroachdb/pebble"},
	{"bench/layouts", "github.com/blevesearch/bleve/v2", "ban github.com/blevesearch/bleve"},
	{"bench/layouts", "capnproto.org/go/capnp/v3", "ban capnproto.org/go/capnp"},
	{"ingest", "github.com/jackc/pgx/v5", "ban github.com/jackc/pgx"},
	{"internal/node/balancer", "go.etcd.io/etcd/client/v3", "ban go.etcd.io/etcd"},
	{"internal/node", "github.com/spf13/cobra", "ban github.com/spf13/cobra"},
	{"internal/cli", "github.com/yuin/goldmark/ast", "ban github.com/yuin/goldmark"},
	{"loadproxy", "flag", "ban flag"},
	{"internal/cli", "log", "ban log"},
	{"internal/node", "adshard/bench/layouts", "ban adshard/bench"},
	{"internal/node", "adshard/internal/oracle", "ban adshard/internal/oracle"},
	{"internal/node/balancer", "adshard/internal/node/control/inmemory", "ban adshard/internal/node/control/inmemory"},
	{"internal/audit", "adshard/internal/corpus", "ban adshard/internal/corpus"},
	{"internal/cli", "adshard/internal/lint/source", "ban adshard/internal/lint"},

	{"barrels", "testing", "tests testing"},
	{"bench/layouts", "testing/fstest", "tests testing"},
	{"internal/oracle", "pgregory.net/rapid", "tests pgregory.net/rapid"},
	{"internal/node", "go.uber.org/goleak", "tests go.uber.org/goleak"},
	{"internal/cli", "github.com/hanwen/go-fuse/v2/fs", "tests github.com/hanwen/go-fuse"},
	{"counters", "github.com/anishathalye/porcupine", "tests github.com/anishathalye/porcupine"},
	{"counters", "github.com/chromedp/chromedp", "tests github.com/chromedp"},
	{"bench/paired", "adshard/barrels/barreltest", "tests …test"},
	{"internal/node", "adshard/internal/node/processtest", "tests …test"},
	{"util", "fmt", "place"},
}

// TestRulesBite writes, for each rule, a file that breaks it, and checks that this is found.
func TestRulesBite(t *testing.T) {
	bitten := make(map[string]bool)
	for _, c := range broken {
		found := false
		for _, f := range faultsOf(packageThatUses(t, c.pkg, c.used)) {
			found = found || f.rule == c.rule
		}
		if !found {
			t.Errorf("%s may use %s: rule %q did not see it", c.pkg, c.used, c.rule)
		}
		bitten[c.rule] = true
	}
	for _, r := range rules { // no package may import a program
		pkg := strings.TrimSuffix(r.pkg, "/…")
		if used := "adshard/cmd/adshard"; !slices.Contains(faults(pkg, used), fault{used, r.pkg + " may", oneWay}) && pkg != "cmd" {
			t.Errorf("the rule of %s is dead: another one before it holds for that package", r.pkg)
		}
	}
	for _, name := range names() {
		if !bitten[name] {
			t.Errorf("rule %q has no line in broken that breaks it", name)
		}
	}
}

// TestAllowed checks that the rules allow what they must allow.
func TestAllowed(t *testing.T) {
	for _, c := range []struct{ pkg, used string }{
		{"balance", "time"}, {"balance", "time.Duration"}, {"balance", "slices"}, {"internal/cli", "log/slog"},
		{"balance/strategy", "adshard/balance"}, {"barrels/rocks", "github.com/linxGnu/grocksdb"},
		{"barrels/barreltest", "testing"}, {"barrels/barreltest", "adshard/internal/corpus"},
		{"barrels/barreltest", "adshard/internal/oracle/oracletest"}, {"bench", "adshard/internal/node"}, {"ingest", "os.Open"},
	} {
		for _, f := range faultsOf(packageThatUses(t, c.pkg, c.used)) {
			t.Errorf("%s must not use %s by rule %q", c.pkg, c.used, f.rule)
		}
	}
}

// names returns the names of all rules, except those of which package may import which.
func names() []string {
	out := []string{"tests …test", "place"}
	for _, only := range testOnly {
		out = append(out, "tests "+only)
	}
	for _, b := range bans {
		out = append(out, "ban "+b.imported)
	}
	for _, r := range rules {
		for ban := range r.never {
			out = append(out, r.pkg+" never "+ban)
		}
	}
	return out
}

var member = regexp.MustCompile(`^(.*)\.([A-Z]\w*)$`)

// packageThatUses returns a package of one file that imports a path, uses a name of a package, or starts a goroutine.
// It imports the path under another name.
func packageThatUses(t *testing.T, pkg, used string) *source.Package {
	t.Helper()
	text := fmt.Sprintf("package p\n\nimport _ %q\n", used)
	if m := member.FindStringSubmatch(used); m != nil {
		text = fmt.Sprintf("package p\n\nimport other %q\n\nvar v = other.%s\n", m[1], m[2])
	} else if used == source.Go {
		text = "package p\n\nfunc f() { go f() }\n"
	}
	return packageOf(t, pkg, text)
}

// packageOf returns a package of one file.
func packageOf(t *testing.T, pkg, text string) *source.Package {
	t.Helper()
	syntax, err := parser.ParseFile(token.NewFileSet(), path.Base(pkg)+".go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return &source.Package{Path: pkg, Files: []*source.File{{Name: "p.go", Syntax: syntax}}}
}

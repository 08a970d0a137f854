// Package lint holds the rules of the house as tests: who may import whom, and
// why not.
package lint

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// rules is docs/architecture.md's table of packages, read downwards: a package
// may import those of ours that its rule names (with all below them), and
// itself. The first rule whose prefix fits holds.
var rules = []struct {
	pkg   string   // a package or, with /…, all below it too
	may   []string // ours
	never map[string]string
}{
	{pkg: "fault"},
	{pkg: "schema/…"},
	{pkg: "internal/wait"},
	{pkg: "internal/progress"},
	{pkg: "search/…", may: []string{"fault"}, never: map[string]string{
		"google.golang.org/grpc": "a search knows no network: wire types live in internal/node",
		"grocksdb":               "a search reads Postings, whatever keeps them",
	}},
	{pkg: "auction", never: map[string]string{
		"os": "the auction is pure", "time": "the auction reads no clock", "context": "the auction does not wait",
		"math/rand": "the auction is reproducible",
	}},
	{pkg: "balance/…", may: []string{"fault", "barrels/certify"}, never: map[string]string{
		"google.golang.org/grpc": "the core is messages in, messages out",
		"os":                     "the core does no I/O",
		"context":                "the core never waits",
		"sync":                   "the core has one owner and starts no goroutine",
		"math/rand":              "the core is reproducible: seeds come in by configuration",
	}},
	{pkg: "barrels/certify"},
	{pkg: "barrels/kv", may: []string{"fault"}},
	{pkg: "barrels/block", may: []string{"search", "auction"}},
	{pkg: "barrels/record", may: []string{"fault", "schema", "search", "barrels/block", "barrels/certify"}},
	{pkg: "barrels/page", may: []string{"schema", "search", "barrels/block", "barrels/record"}},
	{pkg: "barrels/barreltest", may: []string{"fault", "schema", "search", "auction", "barrels", "backend", "balance", "ingest", "internal/oracle", "internal/corpus"}},
	{pkg: "barrels/rocks", may: []string{"fault", "schema", "search", "auction", "barrels"}},
	{pkg: "barrels/…", may: []string{"fault", "schema", "search", "auction"}, never: map[string]string{
		"grocksdb": "only barrels/rocks holds handles of RocksDB",
	}},
	{pkg: "backend/nodedata", may: []string{"fault", "schema", "search", "balance", "backend"}},
	{pkg: "backend/…", may: []string{"fault", "search", "internal/wait"}},
	{pkg: "ingest/…", may: []string{"fault", "search", "backend"}},
	{pkg: "loadproxy/…", may: []string{"fault", "schema", "search", "barrels", "internal/wait"}},
	{pkg: "internal/oracle/…", may: []string{"fault", "search", "auction", "backend"}},
	{pkg: "internal/corpus", may: []string{"search"}},
	{pkg: "internal/node/…", may: []string{
		"fault", "schema", "search", "auction", "barrels", "balance", "backend", "loadproxy", "internal/node", "internal/wait",
	}},
	{pkg: "internal/cli", may: []string{
		"fault", "schema", "search", "auction", "barrels", "balance", "backend", "ingest", "internal/node",
		"internal/wait", "internal/progress",
	}},
	{pkg: "cmd/…", may: []string{"fault", "internal/cli"}},
	{pkg: "bench/…", may: []string{
		"fault", "schema", "search", "auction", "barrels", "balance", "backend", "ingest", "internal/node", "internal/oracle", "internal/corpus",
		"internal/wait", "internal/progress",
	}},
	{pkg: "internal/…", may: []string{
		"fault", "schema", "search", "auction", "barrels", "balance", "backend", "ingest", "loadproxy", "internal",
	}},
}

// bans hold for every package but those named.
var bans = []struct {
	imported, why string
	but           []string
}{
	{"github.com/linxGnu/grocksdb", "one package owns the handles of RocksDB, so that none leaks", []string{"barrels/rocks", "bench"}},
	{"C", "cgo stays in one place, so that all else builds and cross-compiles with Go alone", []string{"barrels/rocks", "bench"}},
	{"modernc.org/sqlite", "other packages read through backend's contracts", []string{"backend/sqlite"}},
	{"zombiezen.com/go/sqlite", "other packages read through backend's contracts", []string{"backend/sqlite"}},
	{"github.com/cockroachdb/pebble", "the product's stores are RocksDB; others are there to be measured", []string{"bench/layouts/pebbledb"}},
	{"github.com/blevesearch/bleve", "a peer, there to be measured", []string{"bench/peers/bleve"}},
	{"github.com/jackc/pgx", "a peer, there to be measured", []string{"bench/peers/postgres"}},
	{"github.com/spf13/cobra", "flags are read in cmd and internal/cli only", []string{"cmd", "internal/cli", "bench"}},
	{"flag", "flags are read in cmd and internal/cli only", []string{"cmd", "internal/cli", "bench"}},
	{"log", "structured logs go through log/slog", nil},
	{"adshard/bench", "the product does not depend on what measures it", []string{"bench"}},
	{"testing", "test support lies in packages named …test", []string{"barrels/barreltest", "backend/backendtest", "internal/oracle/oracletest"}},
}

func TestImports(t *testing.T) {
	for pkg, imports := range imports(t) {
		if strings.HasSuffix(pkg, "test") {
			continue // test support may use what it tests
		}
		for _, imported := range imports {
			for _, reason := range faults(pkg, imported) {
				t.Errorf("%s must not import %s: %s", pkg, imported, reason)
			}
		}
	}
}

// TestRulesBite makes sure that a forbidden import would be seen.
func TestRulesBite(t *testing.T) {
	for _, c := range [][2]string{
		{"search", "adshard/barrels"}, {"auction", "time"}, {"balance", "google.golang.org/grpc"},
		{"barrels/memory", "github.com/linxGnu/grocksdb"}, {"ingest", "adshard/internal/node"},
		{"internal/node", "adshard/bench/layouts"}, {"loadproxy", "adshard/backend"}, {"schema/pb", "adshard/fault"},
		{"barrels/rocks", "github.com/cockroachdb/pebble/v2/sstable"}, {"backend/sqlite", "github.com/jackc/pgx/v5"},
	} {
		if len(faults(c[0], c[1])) == 0 {
			t.Errorf("%s may import %s, it should not", c[0], c[1])
		}
	}
}

func faults(pkg, imported string) (reasons []string) {
	for _, b := range bans {
		if (imported == b.imported || under(imported, b.imported) && strings.Contains(b.imported, "/")) && !slices.ContainsFunc(b.but, func(p string) bool { return under(pkg, p) }) {
			reasons = append(reasons, b.why)
		}
	}
	for _, r := range rules {
		if pkg != r.pkg && !under(pkg, strings.TrimSuffix(r.pkg, "/…")) {
			continue
		}
		for ban, why := range r.never {
			if imported == ban || strings.Contains(imported, ban) && strings.Contains(ban, ".") || strings.HasSuffix(imported, "/"+ban) {
				reasons = append(reasons, why)
			}
		}
		ours, ok := strings.CutPrefix(imported, "adshard/")
		own := strings.TrimSuffix(r.pkg, "/…")
		if ok && !under(ours, own) && !slices.ContainsFunc(r.may, func(p string) bool { return under(ours, p) }) {
			reasons = append(reasons, "dependencies go one way, from the ground up (docs/architecture.md)")
		}
		return reasons
	}
	return append(reasons, "the package has no place in the table of docs/architecture.md")
}

func under(pkg, root string) bool { return pkg == root || strings.HasPrefix(pkg, root+"/") }

func imports(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for _, module := range []string{"../..", "../../bench"} {
		cmd := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...")
		cmd.Dir = module
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list in %s: %v", module, err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line)
			all[strings.TrimPrefix(f[0], "adshard/")] = f[1:]
		}
	}
	return all
}

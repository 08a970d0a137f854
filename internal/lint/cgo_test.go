package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWithoutCgo checks that the package adshard-client can be built: a build without cgo has no RocksDB, which
// adshard does not need, but a slave does.
func TestWithoutCgo(t *testing.T) {
	deps := func(program string) (string, error) {
		list := exec.Command("go", "list", "-deps", program)
		list.Dir, list.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
		out, err := list.CombinedOutput()
		return string(out), err
	}
	all, err := deps("./cmd/adshard")
	if err != nil || !strings.Contains(all, "adshard/internal/node/balancer\n") {
		t.Errorf("%v: %s", err, all)
	}
	if strings.Contains(all, "adshard/barrels/rocks\n") {
		t.Error("adshard needs barrels/rocks without cgo; put what needs a store into files with `//go:build cgo`")
	}
	if all, err := deps("./cmd/slave"); err == nil {
		t.Errorf("a slave without RocksDB: %s", all)
	}
}

// linked gives the number of modules that each program may link, and whether RocksDB is one of them. Its keys are the
// programs of cmd, and packages of adshard's commands.
var linked = map[string]struct {
	modules int
	rocks   bool
}{
	"cmd/adshard":                 {67, true},
	"cmd/balancer":                {51, false},
	"cmd/distributor":             {40, false},
	"cmd/master":                  {54, false},
	"cmd/slave":                   {55, true},
	"internal/cli/role/collector": {40, false},
	"internal/cli/cluster":        {40, false},
	"internal/cli/db":             {41, false},
	"internal/cli/report":         {43, false},
	"internal/cli/setup":          {37, false},
}

// TestLinked checks that each program links only what it runs, and RocksDB only if it has stores.
func TestLinked(t *testing.T) {
	const rocks = "github.com/linxGnu/grocksdb"
	for program, want := range linked {
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./"+program)
		list.Dir = "../.."
		out, err := list.Output()
		if err != nil {
			t.Fatalf("%s: %v", program, err)
		}
		modules := slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
		if len(modules) > want.modules {
			t.Errorf("%s links %d modules, at most %d: `go mod why -m` says for what; %s", program, len(modules), want.modules, strings.Join(modules, " "))
		}
		if got := slices.Contains(modules, rocks); got != want.rocks {
			t.Errorf("%s links RocksDB: %t, want %t; put what needs a store into internal/cli/role/slave or up", program, got, want.rocks)
		}
	}
}

// TestPrograms checks that each program of cmd has an entry in linked.
func TestPrograms(t *testing.T) {
	programs, err := filepath.Glob("../../cmd/*")
	if err != nil || len(programs) == 0 {
		t.Fatal(err, programs)
	}
	for _, dir := range programs {
		if program := "cmd/" + filepath.Base(dir); linked[program].modules == 0 {
			t.Errorf("%s: say in linked how many modules it may link", program)
		}
	}
}

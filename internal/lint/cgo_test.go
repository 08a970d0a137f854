package lint

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestWithoutCgo makes sure that the package adshard-client can be built: without cgo there
// is no RocksDB, and adshard needs none. A slave does.
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

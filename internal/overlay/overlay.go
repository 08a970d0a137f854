// Package overlay lists files that go compiles in place of others (go's -overlay). It is for tests and measurements
// of edited source; no program needs it.
package overlay

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strings"
)

// list is the JSON that -overlay reads.
type list struct{ Replace map[string]string }

// Marshal returns a list in which replace maps the paths of files to those read in their place. It also contains the
// lists of GOFLAGS, which an -overlay on the command line overrides: they may name the binding for this system's RocksDB
// (deploy/rocksdb.sh).
func Marshal(replace map[string]string) ([]byte, error) {
	flags, err := exec.Command("go", "env", "GOFLAGS").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	all := list{Replace: make(map[string]string)}
	for flag := range strings.FieldsSeq(string(flags)) {
		name, found := strings.CutPrefix(flag, "-overlay=")
		if !found {
			continue
		}
		text, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil {
			return nil, fmt.Errorf("GOFLAGS has %s: %w", flag, err)
		}
	}
	maps.Copy(all.Replace, replace)
	return json.Marshal(all)
}

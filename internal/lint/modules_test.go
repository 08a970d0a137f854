package lint

import (
	"os"
	"regexp"
	"testing"
)

var required = regexp.MustCompile(`(?m)^\s(\S+) (v\S+)`)

// TestModules checks that bench, the example of a user's module and counters require the same versions as the
// product.
func TestModules(t *testing.T) {
	versions := func(name string) map[string]string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out := make(map[string]string)
		for _, m := range required.FindAllStringSubmatch(string(text), -1) {
			out[m[1]] = m[2]
		}
		return out
	}
	for _, name := range []string{"bench", "bench/examples/strategy", "counters"} {
		other, both := versions("../../"+name+"/go.mod"), 0
		for module, version := range versions("../../go.mod") {
			if other[module] == "" {
				continue
			}
			if both++; other[module] != version {
				t.Errorf("%s: the product is built with %s and %s with %s; change one of the go.mod files", module, version, name, other[module])
			}
		}
		if both < 10 {
			t.Errorf("only %d modules in both go.mod files, the product's and that of %s: they are not read right", both, name)
		}
	}
}

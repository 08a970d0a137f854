package cli

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"adshard/internal/node/balancer"
	"adshard/internal/node/distributor"
	"adshard/internal/node/master"
	"adshard/internal/node/slave"
	"adshard/internal/node/up"
)

// TestPrintConfigShowsEveryKey: --print-config of each program shows the key of
// every field of its configuration, set or not, and --help says what it is for.
func TestPrintConfigShowsEveryKey(t *testing.T) {
	for _, c := range []struct {
		args   []string
		config any
	}{
		{[]string{"up", "--db", "sqlite:x.db"}, up.DefaultConfig()},
		{[]string{"master"}, master.DefaultConfig()},
		{[]string{"slave"}, slave.DefaultConfig()},
		{[]string{"balancer", "--db", "sqlite:x.db"}, balancer.DefaultConfig()},
		{[]string{"distributor", "--db", "sqlite:x.db"}, distributor.DefaultConfig()},
	} {
		status, out, errOut := run(t, "adshard", append(c.args, "--print-config")...)
		if status != exitDone {
			t.Fatalf("%v: %d %s", c.args, status, errOut)
		}
		var shown map[string]any
		if err := yaml.Unmarshal([]byte(out), &shown); err != nil {
			t.Fatal(err)
		}
		_, help, _ := run(t, "adshard", c.args[0], "--help")
		checkKeys(t, c.args[0], "", reflect.TypeOf(c.config), shown, help)
	}
}

// checkKeys checks the fields of a configuration, and those of its nested structs.
func checkKeys(t *testing.T, program, prefix string, of reflect.Type, shown map[string]any, help string) {
	t.Helper()
	for i := range of.NumField() {
		field := of.Field(i)
		key, option, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if key == "-" {
			continue // not a key of files
		}
		if option == "inline" {
			checkKeys(t, program, prefix, field.Type, shown, help)
			continue
		}
		value, ok := shown[key]
		if !ok || key == "" {
			t.Errorf("%s: the key %q of %s is not shown", program, prefix+key, field.Name)
			continue
		}
		flag := prefix + strings.ReplaceAll(key, "_", "-")
		switch field.Type.Kind() {
		case reflect.Struct:
			inner, _ := value.(map[string]any)
			checkKeys(t, program, flag+"-", field.Type, inner, help)
		case reflect.Map: // set only by a file
		default:
			if !explained(help, flag) {
				t.Errorf("%s: --help does not say what --%s is for", program, flag)
			}
		}
	}
}

// explained reports whether help has a description after a flag and its type.
func explained(help, flag string) bool {
	for line := range strings.Lines(help) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "--"+flag {
			return len(strings.Fields(rest)) > 3
		}
	}
	return false
}

// TestMasterHelpOnSlaves: --slaves is described as addresses for a master, and as a number for others.
func TestMasterHelpOnSlaves(t *testing.T) {
	for program, want := range map[string]string{
		"master": "addresses of some slaves", "balancer": "must have joined before the first plan", "up": "in a new directory one for each replica",
	} {
		if _, out, _ := run(t, "adshard", program, "--help"); !strings.Contains(out, want) {
			t.Errorf("%s --help does not say %q", program, want)
		}
	}
}

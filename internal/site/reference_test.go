package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"adshard/internal/site/metrics"
)

// TestMetrics: the reference lists each metric, and pages name no other metrics. TestMetrics of internal/e2e compares
// the reference with a running cluster.
func TestMetrics(t *testing.T) {
	s := &site{root: "../..", pages: make(map[string]*page)}
	if err := s.read(); err != nil {
		t.Fatal(err)
	}
	reference, err := s.metricsPage()
	if err != nil {
		t.Fatal(err)
	}
	list, err := metrics.Declared("../node")
	if err != nil {
		t.Fatal(err)
	}
	declared := make(map[string]metrics.Metric)
	for _, m := range list {
		declared[m.Name] = m
		if !strings.Contains(reference, "| `"+m.Name+"` | "+m.Kind+" | ") {
			t.Errorf("the reference lacks %s", m.Name)
		}
	}
	inDatabases := []string{"adshard_import", "adshard_serve", "adshard_read", "adshard_collect", "adshard_events"} // roles and a schema
	for _, p := range s.sorted() {
		for _, m := range regexp.MustCompile("`(adshard_\\w*[a-z])`").FindAllStringSubmatch(string(p.text), -1) {
			if declared[m[1]].Name == "" && !slices.Contains(inDatabases, m[1]) {
				t.Errorf("%s: there is no metric %s", p.path, m[1])
			}
		}
	}
	for name, kind := range map[string]string{
		"adshard_stage_seconds": "histogram", "adshard_balancer_moves_total": "counter", "adshard_balancer_clock": "gauge", "adshard_connections": "gauge",
	} {
		if declared[name].Kind != kind {
			t.Errorf("%s is a %s, want a %s", name, declared[name].Kind, kind)
		}
	}
}

// TestAPI: each operation and each schema of the API document has a section.
func TestAPI(t *testing.T) {
	page, err := (&site{root: "../.."}).apiPage()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../" + openAPI)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths      map[string]map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := yaml.Unmarshal(source, &doc); err != nil {
		t.Fatal(err)
	}
	want := 0
	for path, methods := range doc.Paths {
		for method := range methods {
			if method == "servers" {
				continue
			}
			if want++; !strings.Contains(page, "\n### "+strings.ToUpper(method)+" "+path+"\n") {
				t.Errorf("%s %s is not there", method, path)
			}
		}
	}
	for name := range doc.Components.Schemas {
		if want++; !strings.Contains(page, "\n### "+name+"\n") {
			t.Errorf("the schema %s is not there", name)
		}
	}
	if got := strings.Count(page, "\n### "); got != want {
		t.Errorf("%d sections, want %d", got, want)
	}
	for _, line := range []string{
		"| `slots` | query | [Slots](#slots) | The number of places. |",
		"| 200 | [SearchAnswer](#searchanswer) | The ads, best first. |",
		"| `ads`, required | list of [Ad](#ad), at most 20 |  |",
		"Integer, 1 to 20; default `4`",
	} {
		if !strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("no line %q", line)
		}
	}
}

// TestCommandsAndConfiguration: each command has a section, and each program has a list of its keys.
func TestCommandsAndConfiguration(t *testing.T) {
	commands, err := commandsPage()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"adshard", "adshard import", "adshard balance why", "adshard cert rotate", "adshard db roles", "adshard slave", "adshard balancer"} {
		if n := strings.Count(commands, "# "+name+"\n"); n != 1 {
			t.Errorf("%s has %d sections", name, n)
		}
	}
	configuration, err := configurationPage()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"## slave\n", "## up\n", "\nmax_in_flight: 256\n", "\nevacuate_after: 5m0s\n"} {
		if !strings.Contains(configuration, key) {
			t.Errorf("the configuration lacks %q", key)
		}
	}
}

var shown = regexp.MustCompile(`(?m)^ *[$#] (?:sudo -u adshard )?(?:bin/)?adshard ([a-z].*)$`)

// TestCommandsInPages: commands and flags that pages show exist.
func TestCommandsInPages(t *testing.T) {
	s := &site{root: "../..", pages: make(map[string]*page)}
	if err := s.read(); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, p := range s.sorted() {
		for _, m := range shown.FindAllStringSubmatch(string(p.text), -1) {
			seen++
			if err := known(words(m[1])); err != nil {
				t.Errorf("%s: %v", p.path, err)
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d commands were seen", seen)
	}
	for _, wrong := range []string{"quary usb cable", "balance moves 1 slave-1", "query --explane usb cable", "balance move --to slave-1", "slaves list --slots 3"} {
		if known(words(wrong)) == nil {
			t.Errorf("adshard %s is taken for a command", wrong)
		}
	}
}

var usage = regexp.MustCompile(`(?m)^Usage:\n  adshard((?: [a-z]+)*)`)

// known runs a command with its flags and --help, and returns an error if it does not exist. For an unknown command,
// adshard prints the help of its group.
func known(command []string) error {
	help, err := output(append(command, "--help")...)
	if err != nil || !strings.Contains(help, "Available Commands:") {
		return err
	}
	of := len(strings.Fields(usage.FindStringSubmatch(help)[1]))
	if of < len(command) && !strings.HasPrefix(command[of], "-") {
		return fmt.Errorf("there is no command adshard %s", strings.Join(command[:of+1], " "))
	}
	return nil
}

// words splits a command as a shell does, and ends where the command ends.
func words(line string) (list []string) {
	for _, m := range regexp.MustCompile(`'([^']*)'|"([^"]*)"|(\S+)`).FindAllStringSubmatch(line, -1) {
		if slices.Contains([]string{"|", "&", "&&", ";"}, m[3]) || strings.HasPrefix(m[3], "#") || strings.HasPrefix(m[3], ">") {
			break
		}
		list = append(list, m[1]+m[2]+m[3])
	}
	return list
}

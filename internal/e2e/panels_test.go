package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	client "github.com/prometheus/client_golang/prometheus"

	"adshard/internal/node/master"
)

// TestPanelsOfWhatDidNotHappen: queries without values in a healthy cluster use existing names and labels. Those of
// alerts are tested by TestAlertsFire, which makes them fire.
func TestPanelsOfWhatDidNotHappen(t *testing.T) {
	r := client.NewRegistry()
	master.NewMetrics(r)
	known, checked := labelsOf(t, r), 0
	for _, query := range dashboardQueries(t) {
		if emptyWhenHealthy[query] == "" {
			continue
		}
		checked++
		if wrong := unknownIn(query, known); wrong != "" {
			t.Errorf("%s: %s", query, wrong)
		}
	}
	if checked == 0 {
		t.Error("there is no such panel: this test checks nothing")
	}
	for query, wrong := range map[string]string{
		`sum by (shard, reason) (rate(adshard_missing_total[5m]))`:     "",
		`max by (shard) (adshard_replica_left_out{why="silent"})`:      "",
		`sum by (shard, reason) (rate(adshard_mising_total[5m]))`:      "there is no metric adshard_mising_total",
		`sum by (shard, raeson) (rate(adshard_missing_total[5m]))`:     "adshard_missing_total has no label raeson",
		`max by (shard) (adshard_replica_left_out{shard="a",wy!~"x"})`: "adshard_replica_left_out has no label wy",
		`sum(rate(up[5m]))`: "it asks for no metric of a master",
	} {
		if got := unknownIn(query, known); got != wrong {
			t.Errorf("%s: %q, want %q", query, got, wrong)
		}
	}
}

var (
	described = regexp.MustCompile(`fqName: "(\w+)".*variableLabels: \{([^}]*)\}`)
	grouped   = regexp.MustCompile(`\bby \(([^)]*)\)`)
	matched   = regexp.MustCompile(`[{,]\s*(\w+)\s*[=!]`)
	metric    = regexp.MustCompile(`\badshard_\w+\b`)
)

// labelsOf returns the labels of all metrics of a registry, whether or not they have values.
func labelsOf(t *testing.T, r *client.Registry) map[string][]string {
	t.Helper()
	all := make(chan *client.Desc)
	go func() { r.Describe(all); close(all) }()
	out := make(map[string][]string)
	for d := range all {
		part := described.FindStringSubmatch(d.String())
		if part == nil {
			t.Fatalf("%s is not understood", d)
		}
		out[part[1]] = strings.Split(part[2], ",")
	}
	return out
}

// unknownIn returns the part of a query of one metric that does not exist, or "".
func unknownIn(query string, known map[string][]string) string {
	name := metric.FindString(query)
	labels, ok := known[name]
	switch {
	case name == "":
		return "it asks for no metric of a master"
	case !ok:
		return "there is no metric " + name
	}
	var asked []string
	for _, by := range grouped.FindAllStringSubmatch(query, -1) {
		asked = append(asked, strings.Split(strings.ReplaceAll(by[1], " ", ""), ",")...)
	}
	for _, by := range matched.FindAllStringSubmatch(query, -1) {
		asked = append(asked, by[1])
	}
	for _, label := range asked {
		if !slices.Contains(labels, label) {
			return fmt.Sprintf("%s has no label %s", name, label)
		}
	}
	return ""
}

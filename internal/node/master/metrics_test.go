package master

import (
	"fmt"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/internal/node/searchapi"
	"adshard/search"
)

// TestVerdictsOfTargetingAreCounted: only verdicts of targeting and blocks are counted, each
// separately.
func TestVerdictsOfTargetingAreCounted(t *testing.T) {
	r := prometheus.NewRegistry()
	m := NewMetrics(r)
	var why [search.Verdicts]uint64
	for v := range why {
		why[v] = uint64(v)
	}
	for _, o := range []*searchapi.Observation{{Why: &why}, {}, {Why: &why}} {
		m.Observe(o)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, f := range families {
		if f.GetName() != "adshard_keywords_left_out_total" {
			continue
		}
		for _, one := range f.GetMetric() {
			got = append(got, fmt.Sprint(one.GetLabel()[0].GetValue(), " ", one.GetCounter().GetValue()))
		}
	}
	for v := search.NotStarted; v <= search.Blocked; v++ {
		want = append(want, fmt.Sprint(v, " ", 2*int(v)))
	}
	slices.Sort(want)
	if !slices.Equal(got, want) || len(want) != 12 {
		t.Errorf("%q, not %q", got, want)
	}
}

package cluster

import (
	"math"
	"testing"
)

const metrics = `# HELP adshard_stage_seconds Time of the parts of a search, by stage.
# TYPE adshard_stage_seconds histogram
adshard_stage_seconds_bucket{stage="other",le="1"} 7
adshard_stage_seconds_bucket{stage="slave search",le="0.001"} 50
adshard_stage_seconds_bucket{stage="slave search",le="0.01"} 90
adshard_stage_seconds_bucket{stage="slave search",le="0.1"} 100
adshard_stage_seconds_bucket{stage="slave search",le="+Inf"} 100
adshard_stage_seconds_sum{stage="slave search"} 1.5
adshard_store_groups 1234
go_memstats_heap_alloc_bytes 1.5e+06
`

func TestHistogram(t *testing.T) {
	h := parseHistogram(metrics, "adshard_stage_seconds", `stage="slave search"`)
	if h.Count() != 100 {
		t.Fatalf("%v observations", h.Count())
	}
	for q, want := range map[float64]float64{0.25: 0.0005, 0.5: 0.001, 0.9: 0.01, 0.95: 0.055} {
		if got := h.Quantile(q); math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if got := h.Since(h); got.Count() != 0 || got.Quantile(0.99) != 0 {
		t.Errorf("nothing happened, and yet %v with %v", got.Count(), got.Quantile(0.99))
	}
	if got := h.Since(Histogram{}); got.Count() != 100 {
		t.Errorf("since nothing: %v", got.Count())
	}
	above := Histogram{bounds: []float64{0.1, math.Inf(1)}, counts: []float64{0, 5}}
	if got := above.Quantile(0.5); got != 0.1 {
		t.Errorf("above all bounds: %v", got)
	}
	if got := (Histogram{}).Quantile(0.5); got != 0 {
		t.Errorf("an empty one: %v", got)
	}
}

func TestGauge(t *testing.T) {
	for name, want := range map[string]float64{"adshard_store_groups": 1234, "go_memstats_heap_alloc_bytes": 1.5e6} {
		if got, err := parseGauge(metrics, name); err != nil || got != want {
			t.Errorf("%s is %v, %v", name, got, err)
		}
	}
	if _, err := parseGauge(metrics, "adshard_store"); err == nil {
		t.Error("a metric that is not there was read")
	}
}

func TestKey(t *testing.T) {
	var k Key
	if err := k.UnmarshalText([]byte("00000000000000ff")); err != nil || k != 255 {
		t.Errorf("%v, %v", k, err)
	}
	if err := k.UnmarshalText([]byte("x")); err == nil {
		t.Error("x was taken")
	}
}

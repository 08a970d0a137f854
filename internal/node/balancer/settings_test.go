package balancer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"adshard/internal/node/metrics"
)

// TestSettingsThatDiffer: a balancer that stands by names the settings that differ from the leader's, in its metrics; addresses are not
// among them. One with the same settings names none.
func TestSettingsThatDiffer(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	first, _ := r.standBy(r.DB)
	within(t, "it leads", func() bool { return leads(t, first) == 1 })
	same, _ := r.standBy(r.DB)
	r.cfg.Order, r.cfg.ScrubShare, r.cfg.DeadAfter, r.cfg.Listen = "advertiser", 0.25, 17*time.Second, "127.0.0.1:1"
	other, _ := r.standBy(r.DB)
	differ := func(h *Host) []difference {
		if s := h.standby.Load(); s != nil && s.differ.Load() != nil {
			return *s.differ.Load()
		}
		return nil
	}
	want := []difference{{"order", "advertiser", first.order.String()}, {"dead_after", "17s", first.cfg.DeadAfter.String()}, {"scrub_share", "0.25", fmt.Sprint(first.cfg.ScrubShare)}}
	within(t, "what differs", func() bool { return slices.Equal(differ(other), want) })
	within(t, "the same settings were compared", func() bool { s := same.standby.Load(); return s != nil && s.differ.Load() != nil })
	if got := differ(same); len(got) > 0 {
		t.Errorf("the same settings differ: %v", got)
	}
	registry := metrics.NewRegistry()
	RegisterMetrics(registry, other)
	page := new(strings.Builder)
	families, err := registry.Gather()
	r.Must(err)
	for _, f := range families {
		if f.GetName() == "adshard_balancer_setting_differs" {
			page.WriteString(f.String())
		}
	}
	for _, d := range want {
		for _, text := range []string{d.key, d.own, d.leads} {
			if !strings.Contains(page.String(), `"`+text+`"`) {
				t.Errorf("%q is not in %s", text, page)
			}
		}
	}
}

// TestAgreedSettingsExist: each of the settings that should be the same is a key of the configuration.
func TestAgreedSettingsExist(t *testing.T) {
	text, err := yaml.Marshal(DefaultConfig())
	var all map[string]any
	if err == nil {
		err = yaml.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range agreed {
		if _, ok := all[key]; !ok {
			t.Errorf("%s is not a key", key)
		}
	}
}

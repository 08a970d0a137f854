package balancer

import (
	"maps"
	"testing"
)

// TestAPauseOutlivesARestart: a pause lasts over a restart and over the move of the state to etcd,
// until balancing is resumed.
func TestAPauseOutlivesARestart(t *testing.T) {
	r := newRig(t, 1)
	paused := func(want bool) {
		t.Helper()
		s, err := adminControl{r.b}.BalanceStatus(t.Context())
		r.Must(err)
		if s.Paused != want {
			t.Errorf("paused: %v, not %v", s.Paused, want)
		}
		r.stop()
	}
	r.start()
	r.Must(adminControl{r.b}.BalancePause(t.Context(), true))
	paused(true)
	r.start()
	paused(true)
	r.start()
	r.Must(adminControl{r.b}.BalancePause(t.Context(), false))
	paused(false)
	r.start()
	r.Must(adminControl{r.b}.BalancePause(t.Context(), true))
	paused(true)
	r.cfg.Control = startEtcd(t).URL()
	h, _ := r.standBy(r.DB)
	within(t, "it leads", func() bool { return leads(t, h) > 0 })
	if s, err := (adminControl{h.last.Load()}).BalanceStatus(t.Context()); err != nil || !s.Paused {
		t.Errorf("with etcd: %+v, %v", s, err)
	}
}

// TestAStrategyThatWasSetOutlivesARestart: a strategy that was set lasts over a restart, until the
// configuration is changed. Changing the configuration back does not restore it.
func TestAStrategyThatWasSetOutlivesARestart(t *testing.T) {
	r := newRig(t, 1)
	r.cfg.Order = "advertiser" // the strategy "original" needs this order
	begin := func(configured string, options map[string]string, want string, wantOptions map[string]string) {
		t.Helper()
		r.cfg.Strategy, r.cfg.StrategyOptions = configured, options
		r.start()
		s, err := adminControl{r.b}.BalanceStatus(t.Context())
		r.Must(err)
		if s.Strategy != want || !maps.Equal(s.Options, wantOptions) {
			t.Errorf("configured %s %v: %s %v, wanted %s %v", configured, options, s.Strategy, s.Options, want, wantOptions)
		}
	}
	set := map[string]string{"tolerance": "0.5"}
	begin("original", nil, "original", nil)
	_, err := adminControl{r.b}.BalanceStrategy(t.Context(), "weighted-move", set)
	r.Must(err)
	r.stop()
	begin("original", nil, "weighted-move", set)
	r.stop()
	begin("original", nil, "weighted-move", set)
	r.stop()
	begin("random", map[string]string{"seed": "7"}, "random", map[string]string{"seed": "7"})
	r.stop()
	begin("original", nil, "original", nil)
	_, err = adminControl{r.b}.BalanceStrategy(t.Context(), "random", nil)
	r.Must(err)
	r.stop()
	begin("original", map[string]string{}, "random", nil)
}

package balancer

import (
	"maps"
	"testing"
)

// TestAStrategyThatWasSetOutlivesARestart, until the configuration is changed;
// changing that back does not bring it back.
func TestAStrategyThatWasSetOutlivesARestart(t *testing.T) {
	r := newRig(t, 1)
	r.cfg.Order = "advertiser" // original needs it
	begin := func(configured string, options map[string]string, want string, wantOptions map[string]string) {
		t.Helper()
		r.cfg.Strategy, r.cfg.StrategyOptions = configured, options
		r.start()
		s, err := control{r.b}.BalanceStatus(t.Context())
		r.Must(err)
		if s.Strategy != want || !maps.Equal(s.Options, wantOptions) {
			t.Errorf("configured %s %v: %s %v, wanted %s %v", configured, options, s.Strategy, s.Options, want, wantOptions)
		}
	}
	set := map[string]string{"tolerance": "0.5"}
	begin("original", nil, "original", nil)
	_, err := control{r.b}.BalanceStrategy(t.Context(), "weighted-move", set)
	r.Must(err)
	r.stop()
	begin("original", nil, "weighted-move", set)
	r.stop()
	begin("original", nil, "weighted-move", set)
	r.stop()
	begin("random", map[string]string{"seed": "7"}, "random", map[string]string{"seed": "7"})
	r.stop()
	begin("original", nil, "original", nil)
	_, err = control{r.b}.BalanceStrategy(t.Context(), "random", nil)
	r.Must(err)
	r.stop()
	begin("original", map[string]string{}, "random", nil)
}

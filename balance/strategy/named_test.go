package strategy_test

import (
	"strings"
	"testing"

	"adshard/balance/strategy"
)

// TestAStrategyThatIsMissing: the error suggests a similar name, if there is one,
// and lists the known names.
func TestAStrategyThatIsMissing(t *testing.T) {
	for name, want := range map[string]string{
		"topcs": `there is no strategy "topcs"; did you mean topics? Available: original, `, "best": `there is no strategy "best"; available: original, `,
	} {
		_, err := strategy.Named(name)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

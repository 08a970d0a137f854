package slave

import (
	"strings"
	"testing"

	"adshard/fault"
)

// TestSlaveNeedsAnAddressToGiveAway: masters are told where a slave is, and
// ":7100" would be themselves.
func TestSlaveNeedsAnAddressToGiveAway(t *testing.T) {
	for _, c := range []struct {
		listen, advertise string
		good              bool
	}{
		{"127.0.0.1:7100", "", true},
		{"host-1:7100", "", true},
		{":7100", "10.0.0.8:7100", true},
		{":7100", "", false},
		{"0.0.0.0:7100", "", false},
		{"[::]:7100", "", false},
	} {
		cfg := DefaultConfig()
		cfg.Insecure = true
		cfg.Listen, cfg.Advertise = c.listen, c.advertise
		err := cfg.Validate()
		if c.good && err != nil || !c.good && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "advertise")) {
			t.Errorf("listen %s, advertise %q: %v", c.listen, c.advertise, err)
		}
	}
}

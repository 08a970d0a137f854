package slave

import (
	"strings"
	"testing"

	"adshard/fault"
	"adshard/internal/node/config"
	"adshard/internal/node/memlimit"
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

// TestWithin: with little memory a slave asks for small buckets, with much for those
// that are configured.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		memory           config.Size
		configured, want int
	}{
		{128 << 20, 4 << 20, 1 << 19},
		{192 << 20, 4 << 20, 94 << 20 / 64},
		{1 << 30, 4 << 20, 4 << 20},
		{128 << 20, 1 << 12, 1 << 12},
	} {
		plan, err := memlimit.Divide(c.memory, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := (Config{BucketBytes: c.configured}).Within(plan).BucketBytes; got != c.want {
			t.Errorf("%v, %d configured: buckets of %d bytes, want %d", c.memory, c.configured, got, c.want)
		}
	}
}

package peers_test

import (
	"testing"

	"go.uber.org/goleak"

	"adshard/bench/layouts/layouttest"
	"adshard/bench/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) } // Bleve starts workers when the program starts

// TestConformance tests each installed peer against the contract.
func TestConformance(t *testing.T) {
	for _, l := range peers.All() {
		t.Run(l.Name(), func(t *testing.T) {
			t.Parallel()
			layouttest.RunSlow(t, l)
		})
	}
}

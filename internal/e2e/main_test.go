package e2e

import (
	"testing"

	"adshard/internal/clustertest"
	"adshard/internal/outfile"
)

// TestMain runs the tests, or, if this program was started as a part of a cluster (COMMAND --config FILE), that part.
func TestMain(m *testing.M) {
	outfile.OwnerOnly() // as every program does first
	clustertest.BePart()
	m.Run()
}

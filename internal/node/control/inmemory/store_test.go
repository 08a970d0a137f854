package inmemory_test

import (
	"testing"

	"adshard/internal/node/control"
	"adshard/internal/node/control/controltest"
	"adshard/internal/node/control/inmemory"
)

func TestConformance(t *testing.T) {
	controltest.Run(t, func(*testing.T) controltest.Place {
		s := new(inmemory.Store)
		return controltest.Place{Open: func() control.Store { return s }, Expire: s.Expire}
	})
}

package inmemory

import (
	"testing"

	"adshard/bench/layouts"
	"adshard/bench/layouts/layouttest"
)

func TestLayouts(t *testing.T) {
	for _, l := range []layouts.Layout{Structs{}, Floor{}} {
		t.Run(l.Name(), func(t *testing.T) { layouttest.Run(t, l) })
	}
}

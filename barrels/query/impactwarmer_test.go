package query

import (
	"slices"
	"testing"

	"adshard/search"
)

// TestAskedDevicesFirst: the devices for which searches have asked come before the others.
func TestAskedDevicesFirst(t *testing.T) {
	var c Engine
	if got := c.Devices(); !slices.Equal(got, []search.Device{0, 1, 2}) {
		t.Errorf("before any search: %v", got)
	}
	for range 2 {
		c.asked.add(2)
	}
	if got := c.Devices(); !slices.Equal(got, []search.Device{2, 0, 1}) {
		t.Errorf("after searches on device 2: %v", got)
	}
}

package rdb_test

import (
	"testing"

	"adshard/bench/layouts/layouttest"
	"adshard/bench/layouts/rdb"
)

func TestConformance(t *testing.T) {
	for _, l := range rdb.All() {
		t.Run(l.Name(), func(t *testing.T) { layouttest.Run(t, l) })
	}
}

package memory_test

import (
	"testing"

	"adshard/counters/store"
	"adshard/counters/store/memory"
	"adshard/counters/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(testing.TB) (a, b store.Store) {
		s := memory.New()
		return s, s
	})
}

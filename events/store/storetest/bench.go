package storetest

import (
	"encoding/binary"
	"testing"

	"adshard/events/store"
)

// Bench measures Add of batches of new events, of as many campaigns as events.
func Bench(b *testing.B, s store.Store) {
	const batch = 500
	list := make([]store.Event, batch)
	n := uint64(0)
	for b.Loop() {
		for i := range list {
			n++
			list[i] = EventOf(n, int(n/20_000))
			list[i].Token.Campaign = n * 0x9e3779b97f4a7c15 % 1000
			binary.BigEndian.PutUint64(list[i].ID[4:], n*0x9e3779b97f4a7c15)
		}
		if _, err := s.Add(b.Context(), list); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
}

package storetest

import (
	"encoding/binary"
	"testing"
	"time"

	"adshard/events/store"
)

// Bench measures Add with batches of new events of many campaigns.
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

// BenchFold measures Add while Forget folds at the same rate, as after some hours of a steady load: for
// each new event an old one is folded. keywords is the number of keywords, each with one ad and one
// position. If it is 0, each event has a keyword of its own, so that each count is of one event.
func BenchFold(b *testing.B, s store.Store, keywords uint64) {
	const batch, rate, kept, step = 500, 50_000, 200_000, 5000
	n, folded := uint64(0), 0
	list := make([]store.Event, batch)
	add := func() {
		for i := range list {
			n++
			list[i] = EventOf(n, int(n/rate))
			t := &list[i].Token
			t.Campaign = n * 0x9e3779b97f4a7c15 % 1000
			if keywords > 0 {
				t.Keyword = n * 0x9e3779b97f4a7c15 % keywords
				t.Ad, t.Position, list[i].Day = t.Keyword, uint8(t.Keyword%4), 19675
			}
			binary.BigEndian.PutUint64(list[i].ID[4:], n*0x9e3779b97f4a7c15)
		}
		if _, err := s.Add(b.Context(), list); err != nil {
			b.Fatal(err)
		}
	}
	for n < kept {
		add()
	}
	began := n
	for b.Loop() {
		add()
		if n%step == 0 {
			removed, err := s.Forget(b.Context(), start.Add(time.Duration((n-kept)/rate+1)*time.Second), step)
			if err != nil {
				b.Fatal(err)
			}
			folded += removed
		}
	}
	b.ReportMetric(float64(n-began)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(folded)/float64(n-began), "folded/event")
}

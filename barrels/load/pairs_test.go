package load

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"adshard/barrels/certify"
	"adshard/schema/pb"
)

// TestPairs: whatever is sampled, a report has a bounded number of pairs, which
// together represent all of the cost, each its own part.
func TestPairs(t *testing.T) {
	var p pairs
	if list := p.report(); len(list) > 0 {
		t.Fatalf("nothing was sampled: %v", list)
	}
	const seen, reports = 2000, 200
	var half, all, bytes uint64
	for range reports {
		for i := range uint64(seen) {
			s := sample{term: 1, key: 1 << 60, cost: cost{examined: SampleShare}} // every second sample
			if i%2 > 0 {
				s.term, s.key = certify.Mix(i), certify.Mix(i+1)
			}
			p.add(&s)
		}
		list := p.report()
		if len(list) > PairReport {
			t.Fatalf("%d pairs", len(list))
		}
		for _, v := range list {
			if all += v.Cost.Examined; v.Term == 1 {
				half += v.Cost.Examined
			}
		}
		bytes = max(bytes, uint64(proto.Size(&pb.Load{Pairs: list})))
	}
	const want = reports * seen * SampleShare
	if all < want*99/100 || all > want*101/100 || half < want*48/100 || half > want*52/100 {
		t.Errorf("%d in all, %d of one pair; want %d and half of it", all, half, want)
	}
	if bytes > PairReport*28 {
		t.Errorf("%d bytes of a report are pairs", bytes)
	}
	if cap(p.list) > 2*PairReport {
		t.Errorf("room for %d samples", cap(p.list))
	}
}

// BenchmarkPairs adds samples, with a report after every 10,000.
func BenchmarkPairs(b *testing.B) {
	var p pairs
	s := sample{cost: cost{examined: SampleShare}}
	for i := uint64(0); b.Loop(); i++ {
		s.term, s.key = i%300, certify.Mix(i)
		p.add(&s)
		if i%10_000 == 0 {
			p.report()
		}
	}
}

// TestPairsAreReported: the postings that a search looks at are reported with their
// term.
func TestPairsAreReported(t *testing.T) {
	l, v := NewCounter(), served(t, 1)
	search(l, v, []uint64{1 << 40, 1 << 40, 1 << 50})
	got := l.Take().Pairs
	if len(got) != 2 || got[0].Key != 1<<40 || got[0].Cost.Examined != 2*got[1].Cost.Examined || got[1].Key != 1<<50 {
		t.Fatalf("pairs %v", got)
	}
	if again := l.Take().Pairs; len(again) > 0 {
		t.Fatalf("told twice: %v", again)
	}
}

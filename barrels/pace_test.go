package barrels

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestBulkWorkYieldsToSearches: while there are searches, bulk work takes two thirds of the
// time, in short turns; while there are none, it takes all of it.
func TestBulkWorkYieldsToSearches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var searches atomic.Uint64
		p := pacer{searches: &searches}
		const piece = 50 * time.Microsecond
		work := func(pieces int, searching bool) (took, longest time.Duration) {
			began, turn := time.Now(), time.Now()
			p.begin()
			for range pieces {
				time.Sleep(piece) // work
				if searching {
					searches.Add(1)
				}
				done := time.Now()
				if p.yield(); time.Since(done) > 0 {
					longest, turn = max(longest, done.Sub(turn)), time.Now()
				}
			}
			return time.Since(began), longest
		}
		if took, _ := work(1000, false); took != 1000*piece {
			t.Errorf("without searches: %v", took)
		}
		took, longest := work(1000, true)
		if took < 1450*piece || took > 1500*piece || longest > turn+piece {
			t.Errorf("with searches: %v, turns of up to %v", took, longest)
		}
		work(10, false) // this notes the last of the searches
		time.Sleep(quiet)
		if took, _ := work(1000, false); took != 1000*piece {
			t.Errorf("after the searches: %v", took)
		}
		searches.Add(1)
		p.begin()
		time.Sleep(time.Second)
		began := time.Now()
		if p.yield(); time.Since(began) != longestPause {
			t.Errorf("a pause of %v after a second", time.Since(began))
		}
	})
}

// TestShortPiecesShareATurn: many pieces of work that are shorter than a turn yield as one
// long piece does, and the time between them counts as pauses.
func TestShortPiecesShareATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var searches atomic.Uint64
		p := pacer{searches: &searches}
		const piece, pieces = 100 * time.Microsecond, 1000
		took := func(between time.Duration) time.Duration {
			time.Sleep(time.Second)
			began := time.Now()
			for range pieces {
				p.begin()
				time.Sleep(piece) // work
				searches.Add(1)
				p.yield()
				p.end()
				p.end() // a second call has no effect
				time.Sleep(between)
			}
			return time.Since(began)
		}
		if d := took(0); d < 1450*piece || d > 1500*piece {
			t.Errorf("one after the other they took %v", d)
		}
		if d := took(piece / 2); d != 1500*piece {
			t.Errorf("with as much between them as they are to pause they took %v", d)
		}
	})
}

// TestBulkWorkYieldsToOtherProcesses: the longer the pauses of bulk work really take, the
// longer it makes them.
func TestBulkWorkYieldsToOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var searches atomic.Uint64
		p := pacer{searches: &searches}
		pause := func() time.Duration {
			searches.Add(1)
			p.begin()
			time.Sleep(turn)
			began := time.Now()
			p.yield()
			return time.Since(began)
		}
		if d := pause(); d != turn/2 {
			t.Errorf("at first: %v", d)
		}
		for _, want := range []time.Duration{turn, 2 * turn, 4 * turn, 8 * turn, 8 * turn} {
			p.slept(turn, turn+late+1)
			if p := p; min(turn/2*time.Duration(p.slow), longestPause) != want {
				t.Errorf("after another late one: %d times, want %v", p.slow, want)
			}
		}
		for _, want := range []time.Duration{8 * turn, 4 * turn, 2 * turn, turn, turn / 2, turn / 2} {
			if d := pause(); d != want {
				t.Errorf("after one in time: %v, want %v", d, want)
			}
		}
	})
}

package choice

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// tickEvery is the interval between two ticks.
const tickEvery = 25 * time.Millisecond

// watched is a Presence with a clock that the test sets.
type watched struct {
	Presence
	now    time.Duration
	probes int
}

// pass advances the clock, with ticks.
func (w *watched) pass(d time.Duration) {
	for end := w.now + d; w.now < end; {
		w.now += tickEvery
		if w.Tick(w.now) {
			w.probes++
		}
	}
}

func TestAShardThatStopsAnsweringIsLeftOut(t *testing.T) {
	var w watched
	w.Asked(w.now, 100*time.Millisecond)
	w.pass(75 * time.Millisecond)
	if w.probes != 0 {
		t.Fatal("probed before its time")
	}
	w.pass(25 * time.Millisecond)
	if w.probes != 1 || w.Silent() {
		t.Fatalf("%d probes, left out %v when a call has waited too long", w.probes, w.Silent())
	}
	w.pass(suspectTicks * tickEvery)
	if !w.Silent() || w.probes != 1 {
		t.Fatalf("%d probes, left out %v when the probe was not answered either", w.probes, w.Silent())
	}
	// Probes continue, one at a time, until one is answered.
	w.Probed(w.now, GaveUp)
	w.pass(time.Second)
	if !w.Silent() || w.probes != 2 {
		t.Fatalf("%d probes, left out %v", w.probes, w.Silent())
	}
	w.Probed(w.now, Broken)
	w.pass(time.Second)
	if !w.Silent() || w.probes != 3 {
		t.Fatalf("%d probes, left out %v: no connection is not an answer", w.probes, w.Silent())
	}
	w.Probed(w.now, Full)
	w.pass(tickEvery)
	if w.Silent() {
		t.Fatal("still left out after its answer")
	}
	w.pass(time.Minute)
	if w.probes != 3 {
		t.Fatalf("%d probes of a shard that nobody waits for", w.probes)
	}
}

// TestWithoutAConnection: a replica without a connection is asked after all others at once, and is
// ejected when that lasts. From then on, only a probe takes it back.
func TestWithoutAConnection(t *testing.T) {
	var w watched
	up := false
	w.Up = func() bool { return up }
	if w.standing() != broken || !w.In() {
		t.Error("one that is about to be connected")
	}
	w.Asked(w.now, tickEvery)
	w.pass((suspectTicks - 1) * tickEvery)
	if w.probes > 0 || w.suspected {
		t.Error("a call that waits for a connection makes it suspected")
	}
	if up = true; w.standing() != in {
		t.Error("connected at last")
	}
	w.pass(time.Second)
	up = false
	w.pass(suspectTicks * tickEvery)
	if w.standing() != broken || w.In() {
		t.Error("one that is away is not ejected")
	}
	w.pass(time.Second)
	if w.Probed(w.now, Broken); w.probes != 1 {
		t.Errorf("%d probes", w.probes)
	}
	up = true
	w.pass(time.Second)
	if w.Probed(w.now, Full); w.probes != 2 || w.standing() != in {
		t.Errorf("back: %d probes, standing %v", w.probes, w.standing())
	}
}

// TestASlowShardStaysIn: a shard whose searches exceed every deadline still answers its probes, and
// so is not left out.
func TestASlowShardStaysIn(t *testing.T) {
	var w watched
	for range 100 {
		w.Asked(w.now, 50*time.Millisecond)
		w.pass(200 * time.Millisecond)
		w.Replied(w.now, GaveUp)
		if w.probing {
			w.Probed(w.now, Full)
		}
		if w.Silent() {
			// The probe took longer than it may: back at the next tick.
			w.pass(tickEvery)
		}
		if w.Silent() {
			t.Fatal("left out although it answers")
		}
	}
}

// TestCallsThatEndEarlyProveNothing: calls that end early because of a short deadline or a missing
// connection do not make a shard silent, since no search waits for it.
func TestCallsThatEndEarlyProveNothing(t *testing.T) {
	for name, o := range map[string]Outcome{"broken": Broken, "refused": Refused, "outdated": Outdated} {
		t.Run(name, func(t *testing.T) {
			var w watched
			for range 100 {
				w.Asked(w.now, LeastPatience)
				w.Replied(w.now, o)
				w.pass(100 * time.Millisecond)
			}
			if w.probes > 0 || w.Silent() {
				t.Errorf("%d probes, left out %v", w.probes, w.Silent())
			}
		})
	}
	if Patience(time.Millisecond) != LeastPatience || Patience(time.Second) != time.Second/patiencePart {
		t.Error("impatient")
	}
}

// TestAMasterThatStoodStillBlamesNobody: time that passes without ticks does not count against a
// shard whose probe is in progress.
func TestAMasterThatStoodStillBlamesNobody(t *testing.T) {
	var w watched
	w.Asked(w.now, LeastPatience)
	w.now += time.Hour
	w.pass(tickEvery)
	w.now += time.Hour
	w.pass(tickEvery)
	if w.probes != 1 || w.Silent() {
		t.Fatalf("%d probes, left out %v", w.probes, w.Silent())
	}
	w.Probed(w.now, Full)
	w.pass(tickEvery)
	if w.Silent() || w.suspected {
		t.Fatal("suspected after its answer")
	}
}

// TestPresence: in any history, a shard is left out only after a probe that it had time to answer.
// At most one probe is in progress, and an answer takes the shard back with the next tick.
func TestPresence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w watched
		quiet, under := 0, false // ticks since the last answer or probe
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) { w.Asked(w.now, Patience(time.Duration(rapid.IntRange(0, 5e9).Draw(t, "left")))) },
			"reply": func(t *rapid.T) {
				o := rapid.SampledFrom([]Outcome{Full, GaveUp, Broken, Refused}).Draw(t, "outcome")
				if w.Replied(w.now, o); o.replied() {
					quiet = 0
				}
			},
			"probed": func(t *rapid.T) {
				if !under {
					t.Skip()
				}
				o := rapid.SampledFrom([]Outcome{Full, GaveUp}).Draw(t, "outcome")
				w.Probed(w.now, o)
				if under = false; o == Full {
					quiet = 0
				}
			},
			"tick": func(t *rapid.T) {
				was := w.Silent()
				w.now += tickEvery
				quiet++
				if w.Tick(w.now) {
					if under {
						t.Fatal("two probes at a time")
					}
					under = true
				}
				if w.Silent() && !was && quiet < suspectTicks {
					t.Fatalf("left out %d ticks after it answered", quiet)
				}
				if quiet == 1 && w.Silent() && was {
					t.Fatal("not taken back")
				}
			},
		})
	})
}

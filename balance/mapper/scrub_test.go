package mapper_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/mapper"
)

// newScrub returns a rig of four slices on two slaves, scrubbed once in ten seconds.
func newScrub(t *testing.T) *rig {
	return newRig(t, 4, func(c *cluster.Config) { c.Scrub, c.ScrubShare = 10*time.Second, 1 }, "a", "b")
}

// scrubbing answers questions for a while and returns them.
func (r *rig) scrubbing(d time.Duration, change func(balance.Certify, *balance.Certified)) (asked []balance.Certify) {
	for end := r.now + d; r.now < end; r.pass(200 * time.Millisecond) {
		for len(r.asked) > 0 {
			q, rest := r.asked[0], r.asked[1:]
			asked, r.asked = append(asked, q), r.asked[:1]
			r.answer(func(c *balance.Certified) {
				if change != nil {
					change(q, c)
				}
			})
			r.asked = append(r.asked, rest...)
		}
	}
	return asked
}

// TestScrubGoesOverTheWholeRing: once in each interval, the scrub checks every slice on the
// slave that serves it, evenly over time.
func TestScrubGoesOverTheWholeRing(t *testing.T) {
	r := newScrub(t)
	var at []time.Duration
	asked := r.scrubbing(10800*time.Millisecond, func(balance.Certify, *balance.Certified) { at = append(at, r.now) })
	if len(asked) != 4 {
		t.Fatalf("%+v", asked)
	}
	for i, q := range asked {
		s := r.slice(i)
		sh, _ := r.m.Model().Shard(s.Shard)
		if q.Lo != s.Lo || q.Hi != s.Hi || q.Target != sh.Name || q.Source != "" {
			t.Errorf("question %d: %+v, slice %+v", i, q, s)
		}
	}
	if gap := at[3] - at[0]; gap < 6*time.Second {
		t.Errorf("four quarters were looked at within %v", gap)
	}
	s := r.m.Status(r.now).Scrub
	if s.Passes != 1 || s.Last.Parts != 4 || s.Last.Left != 0 || s.Differences != 0 || s.Last.Items == 0 {
		t.Errorf("%+v", s)
	}
	if again := r.scrubbing(9*time.Second, nil); len(again) < 3 {
		t.Errorf("the next pass: %+v", again)
	}
}

// TestScrubTakesItsShareOfAProcessor: the scrub rests for as long as its share demands, however
// late a pass ends.
func TestScrubTakesItsShareOfAProcessor(t *testing.T) {
	r := newRig(t, 4, func(c *cluster.Config) { c.Scrub, c.ScrubShare = time.Second, 0.01 }, "a", "b")
	asked := r.scrubbing(100*time.Second, func(_ balance.Certify, c *balance.Certified) { c.Took = 100 * time.Millisecond })
	if len(asked) < 8 || len(asked) > 12 { // 0.1 s every 10 s
		t.Fatalf("%d questions in 100 s", len(asked))
	}
}

// TestAServedSliceThatDiffersIsDiscarded: a slice that differs twice is ordered to be discarded
// until its slave no longer has it, and then the pass goes on.
func TestAServedSliceThatDiffersIsDiscarded(t *testing.T) {
	r := newScrub(t)
	bad := r.slice(1)
	asked := r.scrubbing(20*time.Second, func(q balance.Certify, c *balance.Certified) {
		if q.Slice == bad.ID {
			c.Target.Bins[17].Hi++
		}
	})
	if len(asked) < 5 || asked[1].Slice != bad.ID || asked[2].Slice != bad.ID || asked[2].Wanted != 1<<17 || asked[3].Slice == bad.ID {
		t.Fatalf("%+v", asked)
	}
	if len(r.discards) < 2 {
		t.Fatalf("ordered: %+v", r.discards)
	}
	for _, d := range r.discards {
		if d.Slave != "b" || d.Slice != bad.ID || d.Lo != bad.Lo || d.Hi != bad.Hi || d.Generation != bad.Generation || d.Reason == "" {
			t.Fatalf("%+v", d)
		}
	}
	if s := r.m.Status(r.now); len(s.Scrub.Condemned) != 1 || s.Scrub.Differences != 1 || s.Certificates.Different != 1 {
		t.Errorf("%+v, %+v", s.Scrub, s.Certificates)
	}
	r.wantTrouble("slave b must discard slice")
	table := r.table("b")
	for i, h := range table.Slices { // the slave has obeyed, and is being filled again
		if h.ID == bad.ID {
			table.Slices[i].State, table.Slices[i].From = balance.Filling, 0
		}
	}
	r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "b", Incarnation: "1", Table: &table}))
	r.carry()
	r.discards = nil
	r.pass(time.Second)
	if s := r.m.Status(r.now).Scrub; len(s.Condemned) != 0 || len(r.discards) != 0 {
		t.Errorf("%+v, ordered: %+v", s, r.discards)
	}
	r.ackAll()
	asked = r.scrubbing(20*time.Second, nil)
	if n := count(asked, bad.ID); n == 0 {
		t.Error("the slice is not looked at again")
	}
}

func count(list []balance.Certify, slice uint64) (n int) {
	for _, q := range list {
		if q.Slice == slice {
			n++
		}
	}
	return n
}

// TestADifferenceThatDoesNotLastIsNone: the second reading decides whether there is a
// difference.
func TestADifferenceThatDoesNotLastIsNone(t *testing.T) {
	r := newScrub(t)
	once := true
	r.scrubbing(20*time.Second, func(_ balance.Certify, c *balance.Certified) {
		if once {
			c.Target.Bins[0].Lo++
			once = false
		}
	})
	if s := r.m.Status(r.now).Scrub; len(r.discards) != 0 || s.Passes == 0 || s.Differences != 0 {
		t.Errorf("%+v, %+v", r.discards, s)
	}
}

// TestScrubSkips: the scrub skips slices that another version has built, that are not answered,
// that change all the time or that are moving; it still finishes its pass.
func TestScrubSkips(t *testing.T) {
	for name, change := range map[string]func(*rig, balance.Certify, *balance.Certified){
		"another version": func(_ *rig, _ balance.Certify, c *balance.Certified) { c.Target.Builder = 1; c.Target.Bins[1].Lo++ },
		"no answer":       func(_ *rig, _ balance.Certify, c *balance.Certified) { c.Failed = errors.New("busy") },
		"changes": func(r *rig, q balance.Certify, c *balance.Certified) {
			if q.Lo > rigKey(70) || rigKey(70) > q.Hi {
				return
			}
			r.clock++
			r.m.Changes(r.now, []balance.Change{{Clock: r.clock, Key: rigKey(70)}})
			c.Target.Bins[balance.Bin(rigKey(70))].Lo++
			c.Target.Clock--
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newScrub(t)
			bad := r.slice(1)
			r.scrubbing(40*time.Second, func(q balance.Certify, c *balance.Certified) {
				if q.Slice == bad.ID {
					change(r, q, c)
				}
			})
			s := r.m.Status(r.now).Scrub
			if s.Passes == 0 || s.Last.Parts < 3 || s.Last.Left == 0 || len(r.discards) > 0 {
				t.Errorf("%+v, %+v", s, r.discards)
			}
			if (name == "another version") != (s.Unlike == "b") {
				t.Errorf("%+v", s)
			}
		})
	}
	t.Run("on its way", func(t *testing.T) {
		r := newScrub(t)
		r.must(r.m.Move(r.now, r.slice(0).ID, "b"))
		r.carry()
		for _, q := range r.scrubbing(9*time.Second, nil) {
			if q.Slice == r.slice(0).ID {
				t.Errorf("%+v", q)
			}
		}
	})
}

// TestASourceThatDiffersIsDiscarded: the move that finds the difference reports it, and the
// source stops serving the slice.
func TestASourceThatDiffersIsDiscarded(t *testing.T) {
	r := newRig(t, 4, nil, "a", "b")
	r.start0()
	for range 2 {
		r.answer(func(c *balance.Certified) { c.Source.Bins[5].Count++ })
		if len(r.discards) == 0 {
			r.pass(400 * time.Millisecond)
		}
	}
	r.pass(time.Second)
	r.phase(0, balance.NoMove)
	if len(r.discards) == 0 || r.discards[0].Slave != "a" || r.discards[0].Lo != r.slice(0).Lo {
		t.Fatalf("%+v", r.discards)
	}
	if !strings.Contains(r.discards[0].Reason, "differs from the source of truth") {
		t.Errorf("%q", r.discards[0].Reason)
	}
	// The move ended before the order arrived: the order is repeated for what the source holds
	// now.
	r.ack("a")
	r.pass(6 * time.Second)
	if d := r.discards[len(r.discards)-1]; d.Slave != "a" || d.Generation != r.slice(0).Generation {
		t.Errorf("%+v; the slice is %+v", d, r.slice(0))
	}
}

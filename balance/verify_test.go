package balance_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"adshard/balance"
)

// TestNobodyWaitsForACancelledMove: a question about it takes no place any
// more, and what is answered late says nothing.
func TestNobodyWaitsForACancelledMove(t *testing.T) {
	r := newRig(t, 8, nil, "a", "b", "c")
	r.start0()
	q := r.asked[0]
	if !r.m.Awaits(q.Seq) {
		t.Fatal("nobody waits for the answer")
	}
	r.mute["b"] = true
	r.pass(12 * time.Second)
	r.phase(0, balance.NoMove)
	if r.m.Awaits(q.Seq) {
		t.Error("the answer is still waited for")
	}
	r.events, r.asked = nil, []balance.Certify{q}
	r.answer(func(c *balance.Certified) { c.Target.Bins[3].Lo++ })
	for _, text := range r.events {
		if strings.Contains(text, "slice 1") {
			t.Errorf("%q", text)
		}
	}
}

// TestAFailedQuestionHoldsUpNoOther: it is asked again after a while, the next
// slice at once.
func TestAFailedQuestionHoldsUpNoOther(t *testing.T) {
	r := newRig(t, 8, nil, "a", "b", "c")
	r.start0()
	r.answer(func(c *balance.Certified) { c.Failed = errors.New("the disk is slow") })
	other := r.slice(3).ID
	r.must(r.m.Move(r.now, other, "b"))
	r.carry()
	r.ackAll()
	if len(r.asked) != 1 || r.asked[0].Slice != other {
		t.Errorf("%+v", r.asked)
	}
	r.asked = nil
	r.pass(1200 * time.Millisecond)
	if len(r.asked) != 1 || r.asked[0].Slice != r.slice(0).ID {
		t.Errorf("%+v", r.asked)
	}
}

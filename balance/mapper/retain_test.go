package mapper_test

import (
	"slices"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/mapper"
)

// loses makes a slave report that it has lost a slice, and then that it has it again.
func (r *rig) loses(name string, lo balance.Key) {
	r.t.Helper()
	full := r.table(name)
	without := full
	without.Slices = slices.Clone(full.Slices)
	for i, h := range without.Slices {
		if h.Lo == lo {
			without.Slices[i].State, without.Slices[i].From, without.Slices[i].Until = balance.Filling, 0, 0
		}
	}
	for _, table := range []balance.Table{without, full} {
		r.must(r.m.Report(r.now, mapper.SlaveReport{Name: name, Incarnation: "1", Position: balance.Position{Clock: r.clock}, Table: &table}))
		r.carry()
	}
}

// comparing answers the questions about a slave for a while, and returns the lowest keys of
// what is compared.
func (r *rig) comparing(name string) map[balance.Key]bool {
	r.t.Helper()
	compared := make(map[balance.Key]bool)
	for range 30 {
		for _, q := range r.asked {
			if r.m.Awaits(q.Seq) && q.Target == name {
				compared[q.Lo] = true
				r.answerTo(q, nil)
			}
		}
		r.asked = nil
		r.pass(200 * time.Millisecond)
	}
	return compared
}

// TestWhatWasLostIsComparedAgain: a slave that is to join loses a certified slice and has it
// again before this is noticed.
func TestWhatWasLostIsComparedAgain(t *testing.T) {
	r := newEntrance(t)
	lo := r.answerFirst().Lo
	r.loses("e", lo)
	if got := r.comparing("e"); !got[lo] {
		t.Errorf("compared %v, not the slice at %v that it had lost", got, lo)
	}
	r.wantShard("shard-1", "c e")
}

// TestAnAnswerAboutWhatWasLostIsNotTaken: an answer to a question from before the loss is
// ignored.
func TestAnAnswerAboutWhatWasLostIsNotTaken(t *testing.T) {
	r := newEntrance(t)
	q := r.asked[0]
	r.loses("e", q.Lo)
	if r.m.Awaits(q.Seq) {
		t.Error("an answer is awaited about a copy that is no more")
	}
	r.comparing("e")
	r.wantShard("shard-1", "c e")
}

// TestALateReplicaIsComparedInWhatItLost: a late replica is compared in what it lost when it
// was about to leave its set.
func TestALateReplicaIsComparedInWhatItLost(t *testing.T) {
	r := newAlmostLate(t)
	r.slow = true
	r.pass(3 * time.Second)
	if r.wantShard("shard-1", "c d"); r.hold == nil {
		t.Fatalf("nothing is about to change: %v", r.events)
	}
	i := slices.IndexFunc(r.m.Model().Slices(), func(s balance.Slice) bool { return s.Lo > 0 && s.Shard == r.slice(0).Move.Other })
	lo := r.slice(i).Lo
	r.loses("d", lo)
	r.slow = false
	r.save()
	r.carry()
	r.wantShard("shard-1", "c +d")
	if got := r.back("1"); !got[lo] {
		t.Errorf("compared %v, not the slice at %v that it had lost", got, lo)
	}
}

// TestWhatIsMergedStaysCertified: a slave that is to join stays certified in a slice that is
// merged with a neighbour, which is served in a view that the slave has not received.
func TestWhatIsMergedStaysCertified(t *testing.T) {
	merges := false
	r := newEntranceWith(t, func(c *cluster.Config) {
		c.Linger, c.Interval = 100*time.Millisecond, 2*time.Second
		c.Strategy = stubborn{
			initial: func(in balance.Input) (balance.Proposal, error) { return dealt(in, 4) },
			iterate: func(in balance.Input) (balance.Proposal, error) {
				e := in.Model.Edit()
				if merges {
					if err := e.Merge(in.Model.Slices()[1].ID, in.Model.Slices()[2].ID); err != nil {
						return balance.Proposal{}, err
					}
				}
				merges = false
				return balance.Proposal{Ops: e.Ops()}, nil
			},
		}
	})
	for r.asked[0].Lo != r.slice(1).Lo {
		t.Fatalf("asked %+v first", r.asked)
	}
	r.answerFirst()
	r.switchBeside(2, "shard-1")
	for range 150 {
		r.others()
		r.must(r.m.Master(r.now, "m", r.m.Published().View(), r.m.Published().Revision()))
		r.pass(100 * time.Millisecond)
	}
	r.phase(2, balance.NoMove)
	merges = true
	r.pass(3 * time.Second)
	if n := len(r.m.Model().Slices()); n != 3 {
		t.Fatalf("%d slices: %v", n, r.events)
	}
	r.others()
	lo := r.slice(1).Lo
	r.ack("e")
	if got := r.comparing("e"); len(got) == 0 || got[lo] {
		t.Errorf("compared %v, among them what was certified at %v", got, lo)
	}
	r.wantShard("shard-1", "c e")
}

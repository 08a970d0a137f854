package mapper_test

import (
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/mapper"
)

// newAlmostLate returns a rig in which slice 0 is to be switched to shard-1. All slaves of its
// set are certified except d, which is about to be lost.
func newAlmostLate(t *testing.T) *rig {
	t.Helper()
	r := newReplicated(t, nil, "a", "b", "c", "d")
	r.live(time.Second)
	r.must(r.m.Move(r.now, r.slice(0).ID, "shard-1"))
	r.carry()
	r.mute["d"] = true
	r.pass(time.Second)
	r.ack("c")
	r.answer(nil)
	r.pass(cluster.DefaultDeadAfter - 2*time.Second)
	return r
}

// newLate returns a rig in which d has left the set of shard-1 when slice 0 was switched
// there, because d was lost.
func newLate(t *testing.T) *rig {
	t.Helper()
	r := newAlmostLate(t)
	r.pass(3 * time.Second)
	r.phase(0, balance.Switched)
	r.wantShard("shard-1", "c +d")
	return r
}

// back lets d return with what it had and has received since, until it is in its set. It
// returns the lowest keys of the slices in which d is compared.
func (r *rig) back(incarnation string) (compared map[balance.Key]bool) {
	r.t.Helper()
	compared = make(map[balance.Key]bool)
	table := r.table("d")
	for range 50 {
		if r.shard("shard-1") == "c d" {
			return compared
		}
		r.must(r.m.Report(r.now, mapper.SlaveReport{Name: "d", Incarnation: incarnation, Position: balance.Position{Clock: r.clock}, Table: &table}))
		r.pass(200 * time.Millisecond)
		for _, q := range r.asked {
			if q.Target == "d" && r.m.Awaits(q.Seq) {
				compared[q.Lo] = true
				r.answerTo(q, nil)
			}
		}
		r.asked = nil
	}
	r.t.Fatalf("it is not in its set: %s", r.shard("shard-1"))
	return nil
}

// TestALateReplicaIsComparedInWhatItLacked: what a replica served when it left its set is
// still certified, and only the rest is compared.
func TestALateReplicaIsComparedInWhatItLacked(t *testing.T) {
	r := newLate(t)
	if got, lo := r.back("1"), r.slice(0).Lo; len(got) != 1 || !got[lo] {
		t.Errorf("compared %v, want %v alone", got, lo)
	}
}

// TestALateReplicaThatRestartsIsComparedInAll: a late replica that restarts is compared in
// everything that it has, because its disk may be a different one.
func TestALateReplicaThatRestartsIsComparedInAll(t *testing.T) {
	r := newLate(t)
	served := 0
	for _, h := range r.table("d").Slices {
		if h.From != 0 {
			served++
		}
	}
	if got := r.back("2"); served < 2 || len(got) != served {
		t.Errorf("compared %v, want all %d slices", got, served)
	}
}

// TestALateReplicaIsComparedInWhatWasAway tests that a late replica is compared in a slice
// that left its shard and returned before the replica did, since the replica still has the old
// copy.
func TestALateReplicaIsComparedInWhatWasAway(t *testing.T) {
	r := newLate(t)
	away := 3
	for _, to := range []string{"shard-0", "shard-1"} {
		r.live(cluster.DefaultLinger + 2*time.Second)
		r.must(r.m.Move(r.now, r.slice(away).ID, to))
		r.live(cluster.DefaultLinger + 20*time.Second)
		r.phase(away, balance.NoMove)
	}
	if got := r.back("1"); !got[r.slice(away).Lo] {
		t.Errorf("compared %v, not the slice that was away", got)
	}
}

package mapper_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/mapper"
)

// stuckPair is two slaves, g and h, that are to join shard-1 and no longer get anything,
// while slices go to and fro between shard-1 and shard-0.
type stuckPair struct {
	*rig
	has      map[string]balance.Table
	answered map[string]bool // slaves about which questions are answered
}

func newStuckPair(t *testing.T) *stuckPair {
	t.Helper()
	r := newReplicated(t, func(c *cluster.Config) { c.Replicas, c.Linger = 3, 100*time.Millisecond },
		"a", "b", "c", "d", "e", "f", "g", "h")
	r.mute["e"], r.mute["f"] = true, true
	r.live(cluster.DefaultEvacuateAfter - time.Second)
	r.pass(3 * time.Second)
	r.wantShard("shard-1", "d +g +h")
	r.mute["g"], r.mute["h"] = true, true
	p := &stuckPair{rig: r, answered: map[string]bool{}}
	p.has = map[string]balance.Table{"g": r.table("g"), "h": r.table("h")}
	return p
}

// until lets time pass, and returns the longest period in which no view was published.
func (p *stuckPair) until(d time.Duration) (longest time.Duration) {
	p.t.Helper()
	last, since := p.m.Published().View(), p.now
	for end := p.now + d; p.now < end; {
		p.beginAMove()
		for _, name := range []string{"a", "b", "c", "d"} {
			p.ack(name)
		}
		for _, name := range slices.Sorted(maps.Keys(p.has)) {
			table := p.has[name]
			p.must(p.m.Report(p.now, mapper.SlaveReport{Name: name, Incarnation: "1", Position: balance.Position{Clock: p.clock}, Table: &table}))
		}
		p.carry()
		p.answerAll(func(target string) bool { return p.has[target].View == 0 || p.answered[target] })
		p.must(p.m.Master(p.now, "m", p.m.Published().View(), p.m.Published().Revision()))
		p.pass(100 * time.Millisecond)
		if v := p.m.Published().View(); v != last {
			last, since = v, p.now
		}
		longest = max(longest, p.now-since)
	}
	return longest
}

// TestViewsWaitForNobodyByTurns: two slaves that are to join come close to joining one after
// the other. If views waited for each of them in turn, they would be delayed forever.
func TestViewsWaitForNobodyByTurns(t *testing.T) {
	p := newStuckPair(t)
	p.until(time.Second)
	p.answered["g"] = true
	p.until(cluster.DefaultDeadAfter)
	p.answered["h"] = true
	if longest := p.until(6 * cluster.DefaultDeadAfter); longest > cluster.DefaultDeadAfter+time.Second {
		t.Errorf("no view was published for %v", longest)
	} else if longest < cluster.DefaultDeadAfter/2 {
		t.Errorf("no view waited for longer than %v", longest)
	}
}

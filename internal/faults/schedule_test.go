package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"adshard/balance"
	strategies "adshard/balance/strategy"
)

// schedule is what happens to a cluster; a seed always gives the same schedule.
type schedule struct {
	seed             uint64
	database         string // sqlite or postgres
	tls              bool   // between all parts
	etcd             bool   // stores the control state, which is otherwise in the database
	strategy         string // with which the cluster begins
	order            string // of groups on the ring
	programs         string // directory of older programs, which are replaced, or empty for none
	length           time.Duration
	steps            []step // by time
	queries, changes int    // a second
}

// step is a fault of a schedule.
type step struct {
	at, lasts time.Duration
	kind      kind
	fault     fault
}

// draw draws the schedule of a seed: about one fault every five seconds, all of which are over at the end. At most
// two are under way at a time.
func draw(seed uint64, length time.Duration) *schedule {
	dice := rand.New(rand.NewPCG(seed, 0x6661756c7473))
	s := &schedule{seed: seed, length: length, queries: 100, changes: 50,
		database: pick(dice, []string{"sqlite", "postgres"}), tls: pick(dice, []bool{false, true}), etcd: pick(dice, []bool{false, true}),
		strategy: pick(dice, strategies.Names()), order: pick(dice, []string{"hash", "hash", "advertiser"})}
	if !suits(s.strategy, s.order) {
		s.order = "advertiser"
	}
	n := max(2, int(length/(5*time.Second)))
	for i := range n {
		slot := length / time.Duration(n)
		at := (time.Duration(i)*slot + time.Duration(dice.Int64N(int64(slot/2)))).Truncate(10 * time.Millisecond)
		s.add(dice, at)
	}
	return s
}

// suits reports whether a strategy works with an order.
func suits(name, order string) bool {
	o, ok := balance.ParseOrder(order)
	return ok && strategies.CheckOrder(name, o) == nil
}

// add draws faults until one touches nothing that another one touches at that time.
func (s *schedule) add(dice *rand.Rand, at time.Duration) {
	for {
		k := pickKind(dice)
		least := max(k.least, 500*time.Millisecond)
		lasts := min(least+time.Duration(dice.Int64N(int64(5*time.Second))), s.length-at).Truncate(10 * time.Millisecond)
		next := step{at: at, lasts: lasts, kind: k, fault: k.draw(dice, s)}
		if next.fault != nil && lasts >= k.least && !slices.ContainsFunc(s.steps, next.collides) {
			s.steps = append(s.steps, next)
			return
		}
	}
}

func pickKind(dice *rand.Rand) kind {
	list := kinds()
	var sum int
	for _, k := range list {
		sum += k.weight
	}
	n := dice.IntN(sum)
	for _, k := range list {
		if n -= k.weight; n < 0 {
			return k
		}
	}
	panic("weights do not add up")
}

// rest is the time after a fault in which nothing else happens to the same parts.
const rest = 2 * time.Second

func (s step) collides(other step) bool {
	if s.at >= other.at+other.lasts+rest || other.at >= s.at+s.lasts+rest {
		return false
	}
	return s.shares(other)
}

// shares reports whether two faults touch the same part.
func (s step) shares(other step) bool {
	mine := s.fault.touches()
	return slices.ContainsFunc(other.fault.touches(), func(name string) bool { return slices.Contains(mine, name) })
}

// String returns the schedule as it is printed before it is played.
func (s *schedule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "schedule %d: %s, order %s, strategy %s, %v, %d queries/s, %d changes/s\n", s.seed, s.cluster(), s.order, s.strategy, s.length, s.queries, s.changes)
	for _, step := range s.steps {
		fmt.Fprintf(&b, "  %6.2fs  %-22s %-24s for %.2fs\n", step.at.Seconds(), step.kind.name, step.fault, step.lasts.Seconds())
	}
	return b.String()
}

// cluster describes the cluster.
func (s *schedule) cluster() string {
	text := s.database
	if s.tls {
		text += ", TLS"
	}
	if s.etcd {
		text += ", etcd"
	}
	return text
}

// hosts returns all hosts that can be cut off.
func (s *schedule) hosts() []string {
	list := allNames()
	if s.etcd {
		list = append(list, etcdNames()...)
	}
	if s.database == "postgres" {
		list = append(list, databaseHost)
	}
	return list
}

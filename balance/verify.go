package balance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"adshard/fault"
)

// comparison is how far the copies of a slice on its way are known to be equal.
//
// The nodes and the source of truth are read at different clocks. So a bin says
// something only when none of its items, nor of their parents, changed after
// the earliest of these clocks; that is known once all changes up to the latest
// have been seen. Other bins are asked for again.
type comparison struct {
	tracked uint64       // clock after which changes are remembered
	bins    [Bins]uint64 // clock of the last change of a bin's items
	parents uint64       // clock of the last change of their parents
	matched uint64       // bit i: bin i was found equal
	items   uint64
	bytes   uint64

	asked  uint64 // number of the question under way; 0: none
	wanted uint64 // its bins
	source bool   // it asks the source node
	sent   time.Duration
	next   time.Duration // not asked before
	queued bool
	failed string // why the last question had no answer
}

const (
	allBins = 1<<Bins - 1
	// maxCertify is how many questions are under way at once.
	maxCertify = 16
	// askGap and failGap are the least times between two questions about a
	// slice, after an answer and after none.
	askGap, failGap = 200 * time.Millisecond, time.Second
	// certifyTime is how long an answer may take.
	certifyTime = 30 * time.Second
)

// verifier asks for certificates.
type verifier struct {
	seq     uint64
	asked   map[uint64]*move
	queue   []*move // to be asked about
	answers []Certified
}

func newVerifier() verifier { return verifier{asked: map[uint64]*move{}} }

func (q *verifier) enqueue(v *move) {
	if !v.check.queued {
		v.check.queued = true
		q.queue = append(q.queue, v)
	}
}

// uncertify forgets what was found equal.
func (m *Mapper) uncertify(v *move) {
	delete(m.verify.asked, v.check.asked)
	v.check.matched, v.check.asked, v.check.items, v.check.bytes = 0, 0, 0, 0
	if v.arrived {
		m.verify.enqueue(v)
	}
}

// touch remembers that a change concerns slices on their way.
func (m *Mapper) touch(c Change) {
	switch {
	case len(m.moves.all) == 0:
	case c.Key != 0:
		if v := m.moves.all[m.model.At(c.Key).ID]; v != nil {
			v.check.bins[Bin(c.Key)] = c.Clock
		}
	default:
		for _, v := range m.moves.all {
			if v.lo <= c.Items.Hi && c.Items.Lo <= v.hi {
				v.check.parents = c.Clock
			}
		}
	}
}

// certify judges the answers that can be judged, and asks what is due.
func (m *Mapper) certify(now time.Duration) {
	m.verify.answers = slices.DeleteFunc(m.verify.answers, func(c Certified) bool {
		if c.Truth.Clock > m.clock {
			return false
		}
		if v := m.verify.asked[c.Seq]; v != nil {
			m.judge(now, v, c)
		}
		return true
	})
	if len(m.verify.asked) >= maxCertify {
		return
	}
	m.verify.queue = slices.DeleteFunc(m.verify.queue, func(v *move) bool {
		if now < v.check.next || len(m.verify.asked) >= maxCertify {
			return false // one that is not due holds up nobody
		}
		v.check.queued = false
		if m.moves.all[v.id] == v && v.phase == Copying && v.arrived && v.doomed == "" && v.check.asked == 0 && v.check.matched != allBins {
			m.ask(now, v)
		}
		return true
	})
}

func (m *Mapper) ask(now time.Duration, v *move) {
	m.verify.seq++
	c := &v.check
	c.asked, c.wanted, c.sent = m.verify.seq, allBins&^c.matched, now
	q := Certify{
		Seq: c.asked, Slice: v.id, Generation: v.generation, Lo: v.lo, Hi: v.hi,
		Clock: c.tracked, Wanted: c.wanted, Target: m.name(v.b),
	}
	if c.source = m.alive(m.name(v.a), now); c.source {
		q.Source = m.name(v.a)
	}
	m.verify.asked[c.asked] = v
	m.out.Certify = append(m.out.Certify, q)
}

// Awaits tells whether a question is still to be answered: its move may have
// come to an end, or it may have been asked anew.
func (m *Mapper) Awaits(seq uint64) bool { return m.verify.asked[seq] != nil }

// Certified takes an answer; one that nobody waits for is ignored.
func (m *Mapper) Certified(now time.Duration, c Certified) {
	now = m.time.at(now)
	if v := m.verify.asked[c.Seq]; v != nil {
		if c.Failed == nil && (c.Target == nil || v.check.source && c.Source == nil) {
			c.Failed = fault.Newf(fault.Internal, "balance: certify", "a certificate is missing")
		}
		if c.Failed != nil {
			m.unanswered(now, v, c.Failed.Error())
		} else {
			m.verify.answers = append(m.verify.answers, c)
		}
	}
	m.step(now)
}

// unanswered has a question asked again.
func (m *Mapper) unanswered(now time.Duration, v *move, why string) {
	delete(m.verify.asked, v.check.asked)
	v.check.asked, v.check.failed, v.check.next = 0, why, now+failGap
	m.tally.certificates.Again++
	m.verify.enqueue(v)
}

// expire gives up questions that were not answered.
func (m *Mapper) expire(now time.Duration) {
	for _, v := range m.moves.sorted() {
		if v.check.asked != 0 && now >= v.check.sent+certifyTime {
			m.unanswered(now, v, "there was no answer for "+certifyTime.String())
		}
	}
}

// judge compares certificates.
func (m *Mapper) judge(now time.Duration, v *move, a Certified) {
	c := &v.check
	delete(m.verify.asked, c.asked)
	c.asked, c.failed, c.next = 0, "", now+askGap
	clock := min(a.Target.Clock, a.Truth.Clock)
	if c.source {
		clock = min(clock, a.Source.Clock)
	}
	var equal, count uint64
	for i := range Bins {
		if c.wanted>>i&1 == 0 {
			continue
		}
		count += a.Target.Bins[i].Count
		if clock < c.tracked || max(c.bins[i], c.parents) > clock {
			continue
		}
		if who := m.differs(v, a, i); who != "" {
			m.tally.certificates.Different++
			m.doom(v, fmt.Sprintf("what searches read on %s differs from the source of truth (part %d of %d, at clock %d)",
				who, i, Bins, clock))
			return
		}
		equal |= 1 << i
		c.items += a.Target.Bins[i].Count
	}
	if equal != 0 {
		v.progress = now
		c.bytes += part(a.Target.Bytes, equal, count, a.Target)
	}
	if c.matched |= equal; c.matched != allBins {
		m.tally.certificates.Again++
		m.verify.enqueue(v)
		return
	}
	m.tally.certificates.Equal++
	if !v.isReady {
		v.isReady = true
		m.moves.ready = append(m.moves.ready, v)
	}
	m.tell(now, v.id, "is certified: the copy on %s equals the source of truth, %d items", m.name(v.b), c.items)
}

// differs names the nodes whose bin differs from the source of truth.
func (m *Mapper) differs(v *move, a Certified, bin int) string {
	var who []string
	if v.check.source && a.Source.Bins[bin] != a.Truth.Bins[bin] {
		who = append(who, m.name(v.a))
	}
	if a.Target.Bins[bin] != a.Truth.Bins[bin] {
		who = append(who, m.name(v.b))
	}
	return strings.Join(who, " and ")
}

// part returns what of bytes falls to some bins, by their items.
func part(bytes, bins, count uint64, c *Certificate) uint64 {
	if count == 0 {
		return 0
	}
	var n uint64
	for i := range Bins {
		if bins>>i&1 != 0 {
			n += c.Bins[i].Count
		}
	}
	return uint64(float64(bytes) * float64(n) / float64(count))
}

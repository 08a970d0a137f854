package load

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"adshard/schema/pb"
)

// PairReport is the number of pairs of a term and a group that a report names, which take 7 kB. A
// topic has thousands of groups, none of which costs much, so the most expensive pairs would say
// little. A random sample shows over many reports how topics are spread.
const PairReport = 256

// pairs is a uniform random sample of the samples in constant memory (Vitter, 1985, algorithm R).
// The zero value is empty.
type pairs struct {
	list []sample
	seen uint64
}

// add adds a sample.
func (p *pairs) add(s *sample) {
	p.seen++
	at := uint64(len(p.list))
	if at < PairReport {
		p.list = append(p.list, sample{})
	} else if at = rand.Uint64N(p.seen); at >= PairReport {
		return
	}
	p.list[at] = sample{key: s.key, term: s.term, cost: s.cost} // without its table, so that it does not stay in memory
}

// report returns the sample, with each pair once, and starts a new one. The pairs also stand for
// those that were left out.
func (p *pairs) report() (out []*pb.PairLoad) {
	slices.SortFunc(p.list, func(a, b sample) int { return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.key, b.key)) })
	for i := range p.list {
		s := &p.list[i]
		if i+1 < len(p.list) && p.list[i+1].term == s.term && p.list[i+1].key == s.key {
			p.list[i+1].add(s.cost)
			continue
		}
		c := s.cost
		for _, v := range []*uint64{&c.examined, &c.matched} {
			*v = *v * p.seen / uint64(len(p.list))
		}
		c.nanos *= float64(p.seen) / float64(len(p.list))
		out = append(out, &pb.PairLoad{Term: s.term, Key: s.key, Cost: c.pb()})
	}
	p.list, p.seen = p.list[:0], 0
	return out
}

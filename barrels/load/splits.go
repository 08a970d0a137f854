package load

import (
	"adshard/balance/splitkey"
	"adshard/schema/pb"
)

const (
	// splitUnits is the number of linear steps from one end of a slice to the other. They stand for
	// the keys of the paper's range, since the keys of a slice are sparse.
	splitUnits = 10_000
	// splitReversals is the number that the paper recommends for large ranges.
	splitReversals = 8
	// splitCounted is the number of samples by which a settled key is judged. With so many, the
	// measured left part is off by 0.03 (standard deviation).
	splitCounted = 256
	// splitLeast is the smallest part of the samples that must lie on each side of a reported key.
	splitLeast = 0.4
	// splitReports is the number of reports without a sample after which an estimate is dropped.
	splitReports = 600
)

// splits estimates, for the newest generation seen of each slice, the key with half of the slice's
// load on each side. All samples count equally, since each stands for as many postings examined or
// matched, which cost about the same.
type splits map[uint64]*split

// split is the estimate for one slice. A settled estimate may be far from half: where keys crowd,
// such as those of one advertiser, its steps may be too wide, so that it oscillates around them.
// Therefore samples on both sides of a key are counted before the key is reported.
type split struct {
	generation uint64
	unused     int // number of reports since the last sample
	splitkey.Estimate

	judged        uint64  // the key of the settled estimate that is being judged
	left, counted int     // samples since then at or below that key, and all samples since then
	halves        *uint64 // the last key judged, if it has about half on each side; its value never changes
}

// estimate returns the estimate of a slice. It begins a new one for a newer generation, and returns
// nil for an older one.
func (s splits) estimate(h *pb.HeldSlice) *split {
	e := s[h.Id]
	switch {
	case e != nil && e.generation > h.Generation:
		return nil
	case e == nil || e.generation < h.Generation:
		e = &split{generation: h.Generation, Estimate: splitkey.New(splitkey.PingPong(splitReversals), (h.Hi-h.Lo)/splitUnits)}
		s[h.Id] = e
	}
	return e
}

// add adds a sample.
func (e *split) add(key uint64) {
	e.unused = 0
	e.Add(key)
	if e.Settled() {
		e.judge(key)
	}
}

// judge counts a sample. If the present key has been judged, it takes the next key first.
func (e *split) judge(key uint64) {
	if e.counted == splitCounted {
		part := float64(e.left) / splitCounted
		e.halves = nil
		if judged := e.judged; part >= splitLeast && part <= 1-splitLeast {
			e.halves = &judged
		}
		e.counted = 0
	}
	if e.counted == 0 {
		e.judged, _ = e.Key()
		e.left = 0
	}
	e.counted++
	if key <= e.judged {
		e.left++
	}
}

// report returns the split keys judged good, and drops the estimates of slices without recent
// samples.
func (s splits) report() map[generation]*uint64 {
	out := make(map[generation]*uint64)
	for id, e := range s {
		if e.unused++; e.unused > splitReports {
			delete(s, id)
			continue
		}
		if e.halves != nil {
			out[generation{id, e.generation}] = e.halves
		}
	}
	return out
}

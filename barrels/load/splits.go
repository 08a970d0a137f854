package load

import (
	"adshard/balance/splitkey"
	"adshard/schema/pb"
)

const (
	// splitUnits is how many linear steps it is from one end of a slice to the other:
	// the keys of the paper's range, since those of a slice are sparse.
	splitUnits = 10_000
	// splitReversals is what the paper recommends for large ranges.
	splitReversals = 8
	// splitCounted is the number of samples by which a settled key is judged: with it the left part
	// is off by 0.03 (standard deviation).
	splitCounted = 256
	// splitLeast is the least part of the samples that must be on each side of a reported key.
	splitLeast = 0.4
	// splitReports is the number of reports without a sample after which an estimate is dropped.
	splitReports = 600
)

// splits estimates for each slice the key with half of its load on each side, for the newest
// generation seen. All samples count alike, since each stands for as many postings examined or
// matched, which cost about the same.
type splits map[uint64]*split

// A settled estimate may be far from half: where keys crowd, such as those of one advertiser, its
// steps may be too wide and it oscillates around them. So samples on both sides of a key are
// counted before it is reported.
type split struct {
	generation uint64
	unused     int // reports since the last sample
	splitkey.Estimate

	judged        uint64  // a key of the settled estimate
	left, counted int     // samples up to that key, and all of them, since it was taken
	halves        *uint64 // the last key judged, if it has about half on each side; never changed
}

// estimate returns the estimate of a slice; a newer generation begins a new one, and an older
// one has none.
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

// judge counts a sample, and takes the next key when the present one has been judged.
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

// report returns the split keys that were found good, and drops the estimates of slices without
// recent samples.
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

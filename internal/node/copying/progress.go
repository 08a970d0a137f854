package copying

import (
	"sync/atomic"
	"time"
)

// Progress says how far a copy has come. Its zero value is a copy that has not begun; nil is
// allowed. Many may read it while one call of Fill changes it.
type Progress struct {
	began          atomic.Int64  // when pieces were asked for first, in ns since 1970, or 0 if there is none
	there, fetched atomic.Uint64 // bytes that are there, and those of them that were fetched
	total          atomic.Uint64 // bytes of all files, or 0 if not known yet
}

// State returns how many bytes of how many are there, and how many have arrived a second,
// on average. Total 0: it is not known yet.
func (p *Progress) State() (bytes, total, perSecond uint64) {
	if total = p.total.Load(); total == 0 {
		return 0, 0, 0
	}
	if took := time.Since(time.Unix(0, p.began.Load())).Seconds(); took > 0 {
		perSecond = uint64(float64(p.fetched.Load()) / took)
	}
	return min(total, p.there.Load()), total, perSecond
}

// begin notes that a round begins to fetch what is missing.
func (p *Progress) begin(total, missing uint64) {
	if p == nil {
		return
	}
	p.began.CompareAndSwap(0, time.Now().UnixNano())
	p.there.Store(total - min(total, missing))
	p.total.Store(total)
}

// add notes that bytes have arrived.
func (p *Progress) add(bytes uint64) {
	if p == nil {
		return
	}
	p.fetched.Add(bytes)
	p.there.Add(bytes)
}

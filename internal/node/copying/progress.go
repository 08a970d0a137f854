package copying

import (
	"sync/atomic"
	"time"
)

// Progress says how far a copy has come. The zero value is a copy that has not begun; a nil
// *Progress is allowed. It may be read by many goroutines while one call of Fill changes it.
type Progress struct {
	began          atomic.Int64  // when pieces were first asked for, in ns since 1970, or 0 if none were
	there, fetched atomic.Uint64 // bytes that have been copied, and how many of them were fetched
	total          atomic.Uint64 // bytes of all files, or 0 if not known yet
}

// State returns how many bytes have been copied, the total, and the average number of bytes that
// have arrived per second. The total is 0 while it is not known.
func (p *Progress) State() (bytes, total, perSecond uint64) {
	if total = p.total.Load(); total == 0 {
		return 0, 0, 0
	}
	if took := time.Since(time.Unix(0, p.began.Load())).Seconds(); took > 0 {
		perSecond = uint64(float64(p.fetched.Load()) / took)
	}
	return min(total, p.there.Load()), total, perSecond
}

// begin records that a round begins to fetch what is missing.
func (p *Progress) begin(total, missing uint64) {
	if p == nil {
		return
	}
	p.began.CompareAndSwap(0, time.Now().UnixNano())
	p.there.Store(total - min(total, missing))
	p.total.Store(total)
}

// add records that bytes have arrived.
func (p *Progress) add(bytes uint64) {
	if p == nil {
		return
	}
	p.fetched.Add(bytes)
	p.there.Add(bytes)
}

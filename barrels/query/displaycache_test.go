package query

import (
	"strings"
	"sync"
	"testing"

	"adshard/search/display"
)

// TestDisplaysFitInTheirBytes: displays fit in their limit of bytes, however much an answer
// shows of each keyword, and wherever it comes from.
func TestDisplaysFitInTheirBytes(t *testing.T) {
	const most = 1 << 20
	large := strings.Repeat("x", 5000)
	for _, size := range []int{0, 300, 5000} {
		c := NewDisplayCache(alone(most))
		var all sync.WaitGroup
		for worker := range uint64(4) {
			all.Go(func() {
				for i := range uint64(4000) {
					d := &cachedDisplay{keyword: worker + 4*i, Pieces: display.Pieces{Group: []byte(large[:size])}}
					c.put(c.slot(d.keyword), d)
					if i%100 == 0 {
						c.Drop(d.keyword)
					}
				}
			})
		}
		all.Wait()
		sum, n := int64(0), 0
		for i := range c.slots {
			if d := c.slots[i].Load(); d != nil {
				n++
				sum += d.bytes()
			}
		}
		if sum != c.bytes.Load() || sum > most || n < len(c.slots)/16 {
			t.Errorf("%d with %d bytes each take %d bytes, counted as %d; %d are given", n, size, sum, c.bytes.Load(), most)
		}
		huge := &cachedDisplay{keyword: 1 << 40, Pieces: display.Pieces{Group: make([]byte, most)}}
		if c.put(c.slot(huge.keyword), huge); c.slot(huge.keyword).Load() != nil {
			t.Error("one takes all of it")
		}
	}
}

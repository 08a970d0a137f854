package sim

import "time"

// queue has the events that are still to happen, ordered by time and then in the order
// in which they were added. It is a binary heap.
type queue struct {
	heap []entry
	seq  uint64
}

type entry struct {
	at  time.Duration
	seq uint64
	run func()
}

func (q *queue) before(i, j int) bool {
	a, b := &q.heap[i], &q.heap[j]
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

// put makes run be called at a time.
func (q *queue) put(at time.Duration, run func()) {
	q.seq++
	q.heap = append(q.heap, entry{at, q.seq, run})
	for i := len(q.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !q.before(i, up) {
			return
		}
		q.heap[i], q.heap[up] = q.heap[up], q.heap[i]
		i = up
	}
}

// take removes and returns the next entry. The queue must not be empty.
func (q *queue) take() entry {
	first, n := q.heap[0], len(q.heap)-1
	q.heap[0] = q.heap[n]
	q.heap[n] = entry{}
	q.heap = q.heap[:n]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < n; child++ {
			if q.before(child, least) {
				least = child
			}
		}
		if least == i {
			return first
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}

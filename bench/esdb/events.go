package esdb

import "time"

// kind says what an event does.
type kind uint8

const (
	generate    kind = iota // a client's generator writes
	primary                 // a write has reached its shard's node
	replica                 // a write has reached the node of its shard's replica
	acknowledge             // a client has received the acknowledgement of a write
	call                    // anything rare
)

// event is an event at a moment.
type event struct {
	at     time.Duration
	number uint64 // events of one moment happen in the order in which they were added
	kind   kind
	client uint8
	write  write
	do     func()
}

// events is a heap, the earliest first.
type events struct {
	list   []event
	number uint64
}

func (h *events) empty() bool { return len(h.list) == 0 }

func (e *event) before(f *event) bool {
	return e.at < f.at || e.at == f.at && e.number < f.number
}

func (h *events) add(e event) {
	h.number++
	e.number = h.number
	h.list = append(h.list, e)
	i := len(h.list) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(&h.list[up]) {
			break
		}
		h.list[i] = h.list[up]
		i = up
	}
	h.list[i] = e
}

func (h *events) next() event {
	out, last := h.list[0], h.list[len(h.list)-1]
	h.list[len(h.list)-1] = event{}
	h.list = h.list[:len(h.list)-1]
	n := len(h.list)
	if n == 0 {
		return out
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= n {
			break
		}
		if down+1 < n && h.list[down+1].before(&h.list[down]) {
			down++
		}
		if !h.list[down].before(&last) {
			break
		}
		h.list[i] = h.list[down]
		i = down
	}
	h.list[i] = last
	return out
}

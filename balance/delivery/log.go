package delivery

import (
	"sort"

	"adshard/balance"
	"adshard/fault"
)

// changeLog is the newest part of the log of changes: at most limit changes, all those
// with clocks above base. Older changes are read from the feed.
type changeLog struct {
	base  uint64
	list  []balance.Change // in ascending order of clocks
	limit int
}

// newest returns the clock up to which the log is complete.
func (l *changeLog) newest() uint64 {
	if n := len(l.list); n > 0 {
		return l.list[n-1].Clock
	}
	return l.base
}

func (l *changeLog) append(list []balance.Change) error {
	for _, c := range list {
		if c.Clock <= l.newest() {
			return fault.Newf(fault.Invalid, "balance: follow changes",
				"change with clock %d after %d", c.Clock, l.newest())
		}
		l.list = append(l.list, c)
	}
	if over := len(l.list) - l.limit; over > 0 {
		l.base = l.list[over-1].Clock
		// The array is copied only now and then, so that appending stays cheap.
		l.list = l.list[over:]
	}
	return nil
}

// after returns the changes with clocks above clock; ok is false if the log no longer
// has all of them.
func (l *changeLog) after(clock uint64) (list []balance.Change, ok bool) {
	if clock < l.base {
		return nil, false
	}
	i := sort.Search(len(l.list), func(i int) bool { return l.list[i].Clock > clock })
	return l.list[i:], true
}

package overload

import "time"

const (
	// recent: whoever has asked counts for this long.
	recent = time.Second
	// mostSharers bounds those that are told apart; further ones count as one.
	mostSharers = 1024
)

// sharer is one of those who share the places of a gate.
type sharer struct {
	places int // searches under way
	joined int // how often it has joined and not left
	seen   time.Duration
}

// sharers are those who have searches under way, have asked of late, or have joined.
type sharers struct {
	byName map[string]*sharer
	others sharer // all beyond mostSharers
}

func newSharers() sharers { return sharers{byName: make(map[string]*sharer)} }

// of returns the one with this name, who asks now.
func (ss *sharers) of(name string, now time.Duration) *sharer {
	s := ss.byName[name]
	switch {
	case s != nil:
	case len(ss.byName) < mostSharers:
		s = new(sharer)
		ss.byName[name] = s
	default:
		s = &ss.others
	}
	s.seen = now
	return s
}

// greedy reports whether one has its share of n places already, while there are others.
func (ss *sharers) greedy(s *sharer, n int) bool {
	return len(ss.byName) > 1 && s.places >= max(1, n/len(ss.byName))
}

// forget drops those who have not asked of late.
func (ss *sharers) forget(now time.Duration) {
	for name, s := range ss.byName {
		if s.places == 0 && s.joined == 0 && now-s.seen > recent {
			delete(ss.byName, name)
		}
	}
}

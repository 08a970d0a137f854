package overload

import "time"

const (
	// recent is how long a client counts after its last search.
	recent = time.Second
	// maxClients bounds those that are told apart; further ones count as one.
	maxClients = 1024
)

// client is one of the clients that share the places of a gate.
type client struct {
	places int // searches under way
	joined int // how often it has joined and not left
	seen   time.Duration
}

// clients are those who have searches under way, have asked recently, or have joined.
type clients struct {
	byName map[string]*client
	others client // all beyond maxClients
}

func newClients() clients { return clients{byName: make(map[string]*client)} }

// get returns the client with this name, which asks now.
func (ss *clients) get(name string, now time.Duration) *client {
	s := ss.byName[name]
	switch {
	case s != nil:
	case len(ss.byName) < maxClients:
		s = new(client)
		ss.byName[name] = s
	default:
		s = &ss.others
	}
	s.seen = now
	return s
}

// greedy reports whether one has its share of n places already, while there are others.
func (ss *clients) greedy(s *client, n int) bool {
	return len(ss.byName) > 1 && s.places >= max(1, n/len(ss.byName))
}

// forget drops those who have not asked recently.
func (ss *clients) forget(now time.Duration) {
	for name, s := range ss.byName {
		if s.places == 0 && s.joined == 0 && now-s.seen > recent {
			delete(ss.byName, name)
		}
	}
}

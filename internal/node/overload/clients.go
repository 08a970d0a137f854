package overload

import "time"

const (
	// recent is how long after its last search a client is still counted.
	recent = time.Second
	// maxClients bounds the clients that are told apart; all others together count as one.
	maxClients = 1024
)

// client is one of the clients that share the places of a gate.
type client struct {
	places int // searches under way
	joined int // how many of its Joins have not been ended
	seen   time.Duration
}

// clients holds the clients that have searches under way, have asked recently, or have joined.
type clients struct {
	byName map[string]*client
	others client // stands for all clients beyond maxClients
}

func newClients() clients { return clients{byName: make(map[string]*client)} }

// get returns the client with this name, and records that it asks now.
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

// greedy reports whether a client already has its share of n places, and there are other clients.
func (ss *clients) greedy(s *client, n int) bool {
	return len(ss.byName) > 1 && s.places >= max(1, n/len(ss.byName))
}

// forget drops the clients that have not asked recently.
func (ss *clients) forget(now time.Duration) {
	for name, s := range ss.byName {
		if s.places == 0 && s.joined == 0 && now-s.seen > recent {
			delete(ss.byName, name)
		}
	}
}

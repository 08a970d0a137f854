package balancer

import (
	"maps"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/dgryski/go-rendezvous"

	"adshard/fault"
)

// ownDistributor is the name of the balancer's own distributor.
const ownDistributor = "balancer"

// aliveTime is how long after its last word a distributor gets slaves, and a
// slave has its name for itself.
const aliveTime = 3 * time.Second

// distributorInfo is a distributor as the balancer knows it.
type distributorInfo struct {
	address string // "": the balancer's own
	seen    time.Time
	clock   uint64 // up to which it has processed changes
}

func (s *distributorInfo) alive(now time.Time) bool { return now.Sub(s.seen) < aliveTime }

// distributors are the distributors by name. Which slave belongs to whom comes
// from rendezvous hashing over those that are alive (Thaler and Ravishankar
// 1998), so that little changes when one comes or goes.
type distributors map[string]*distributorInfo

// maxDistributors is how many distributors may be at work.
const maxDistributors = 256

// note notes that a distributor has spoken. Errors: fault.Conflict for the
// later of two of one name, fault.Overloaded for one more than maxSuppliers.
func (s distributors) note(name, address string, clock uint64, now time.Time) error {
	d, ok := s[name]
	if ok && d.address != address && d.alive(now) {
		return fault.Newf(fault.Conflict, "balancer: give quanta",
			"two distributors have the name %s: the one at %s is at work, the one at %s is refused; give it another name",
			name, d.address, address)
	}
	if !ok && len(s) >= maxDistributors {
		maps.DeleteFunc(s, func(_ string, d *distributorInfo) bool { return !d.alive(now) })
		if len(s) >= maxDistributors {
			return fault.Newf(fault.Overloaded, "balancer: give quanta",
				"distributor %s is refused: %d are at work, and no more are taken", name, len(s))
		}
	}
	s[name] = &distributorInfo{address, now, clock}
	return nil
}

// assigned returns the address of a slave's distributor. Errors: fault.Unavailable
// when there is none.
func (s distributors) assigned(slave string, now time.Time) (address string, err error) {
	var alive []string
	for name, d := range s {
		if d.alive(now) {
			alive = append(alive, name)
		}
	}
	if len(alive) == 0 {
		return "", fault.Newf(fault.Unavailable, "balancer: register",
			"no distributor is at work; start one, or let the balancer distribute")
	}
	slices.Sort(alive)
	return s[rendezvous.New(alive, xxhash.Sum64String).Lookup(slave)].address, nil
}

// leastClock is the least clock that a distributor alive has come to.
func (s distributors) leastClock(most uint64, now time.Time) uint64 {
	for _, d := range s {
		if d.alive(now) {
			most = min(most, d.clock)
		}
	}
	return most
}

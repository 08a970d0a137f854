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

// aliveTime is how long after its last call a distributor is assigned slaves, and a
// slave keeps its name.
const aliveTime = 3 * time.Second

// distributorInfo is what a distributor last reported.
type distributorInfo struct {
	address string // "": the balancer's own
	words   string // the version of its program's words; "": it names none
	seen    time.Time
	clock   uint64 // up to which it has processed changes
}

func (s *distributorInfo) alive(now time.Time) bool { return now.Sub(s.seen) < aliveTime }

// distributors are the distributors by name. Slaves are assigned by rendezvous
// hashing over those that are alive (Thaler and Ravishankar 1998), so that few
// slaves change theirs when one comes or goes. While a cluster gets programs with
// other words, slaves are assigned to distributors that have theirs: others have nothing
// to give them (wire.SameWords).
type distributors map[string]*distributorInfo

// maxDistributors bounds the distributors that run.
const maxDistributors = 256

// record records a call of a distributor. Errors: fault.Conflict for the later of
// two of one name, fault.Overloaded for one more than maxDistributors.
func (s distributors) record(name, address, words string, clock uint64, now time.Time) error {
	d, ok := s[name]
	if ok && d.address != address && d.alive(now) {
		return fault.Newf(fault.Conflict, "balancer: give quanta",
			"two distributors have the name %s: the one at %s is running, the one at %s is rejected; give it another name",
			name, d.address, address)
	}
	if !ok && len(s) >= maxDistributors {
		maps.DeleteFunc(s, func(_ string, d *distributorInfo) bool { return !d.alive(now) })
		if len(s) >= maxDistributors {
			return fault.Newf(fault.Overloaded, "balancer: give quanta",
				"distributor %s is rejected: %d are running, the maximum", name, len(s))
		}
	}
	s[name] = &distributorInfo{address, words, now, clock}
	return nil
}

// assigned returns the address of the distributor of a slave with a version of words:
// one of those with the same version if any is alive. Errors: fault.Unavailable if none
// is alive at all.
func (s distributors) assigned(slave, words string, now time.Time) (address string, err error) {
	var alive, same []string
	for name, d := range s {
		if !d.alive(now) {
			continue
		}
		alive = append(alive, name)
		if d.words == words {
			same = append(same, name)
		}
	}
	if len(same) > 0 {
		alive = same
	}
	if len(alive) == 0 {
		return "", fault.Newf(fault.Unavailable, "balancer: register",
			"no distributor is running; start one, or let the balancer distribute")
	}
	slices.Sort(alive)
	return s[rendezvous.New(alive, xxhash.Sum64String).Lookup(slave)].address, nil
}

// leastClock returns the least clock that a distributor alive has reached, at most
// most.
func (s distributors) leastClock(most uint64, now time.Time) uint64 {
	for _, d := range s {
		if d.alive(now) {
			most = min(most, d.clock)
		}
	}
	return most
}

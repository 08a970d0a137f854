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

// aliveTime is how long after its last call a distributor is still assigned slaves, and how long a
// slave's name stays taken.
const aliveTime = 3 * time.Second

// distributorInfo is the last report of a distributor.
type distributorInfo struct {
	address string // "" for the balancer's own distributor
	words   string // the version of the words of its program; "" if it names none
	seen    time.Time
	clock   uint64 // the clock up to which it has processed changes
}

func (s *distributorInfo) alive(now time.Time) bool { return now.Sub(s.seen) < aliveTime }

// distributors holds the distributors by name. Slaves are assigned to the live ones by rendezvous
// hashing (Thaler and Ravishankar 1998), so that few slaves change distributor when one comes or
// goes. While programs with another version of words are being rolled out, slaves are assigned to
// distributors of their own version, since the others cannot serve them (wire.SameWords).
type distributors map[string]*distributorInfo

// maxDistributors bounds the number of running distributors.
const maxDistributors = 256

// record records a call of a distributor. Errors: fault.Conflict for a second distributor of the
// same name, fault.Overloaded above maxDistributors.
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

// assigned returns the address of the distributor of a slave with a version of words. It chooses
// among the live distributors of that version, or among all live ones if none has it. Errors:
// fault.Unavailable if none is alive.
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

// leastClock returns the least clock that any live distributor has reached, or `most` if that is
// less.
func (s distributors) leastClock(most uint64, now time.Time) uint64 {
	for _, d := range s {
		if d.alive(now) {
			most = min(most, d.clock)
		}
	}
	return most
}

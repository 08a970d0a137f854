package admission

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
)

const (
	// Remembered is how long a refusal is remembered; a slave that is refused tries again within seconds.
	Remembered = time.Minute
	// mostRefused bounds the refusals that are remembered: any process can make one.
	mostRefused = 64
)

// Refusals remembers which slaves were refused lately, and why. The zero value has none. It is safe for concurrent use.
type Refusals struct {
	mu   sync.Mutex
	list map[refusedSlave]Refusal // guarded by mu
}

type refusedSlave struct{ name, address string }

// Refusal is a slave that was refused, why, and when.
type Refusal struct {
	Name, Address, Why string
	At                 time.Time
}

// Record records how a registration ended. An error that only says that the balancer cannot decide now is no refusal.
func (f *Refusals) Record(r *pb.RegisterRequest, err error, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := refusedSlave{r.GetName(), r.GetAddress()}
	if err == nil { // it may have been refused for the address that it advertised before
		maps.DeleteFunc(f.list, func(other refusedSlave, _ Refusal) bool { return other.name == of.name })
		return
	}
	switch fault.KindOf(err) {
	case fault.Conflict, fault.Invalid, fault.Version, fault.Forbidden, fault.Overloaded:
	default:
		delete(f.list, of)
		return
	}
	maps.DeleteFunc(f.list, func(_ refusedSlave, r Refusal) bool { return now.Sub(r.At) > Remembered })
	if _, known := f.list[of]; !known && len(f.list) >= mostRefused {
		f.forgetOldest()
	}
	if f.list == nil {
		f.list = make(map[refusedSlave]Refusal)
	}
	f.list[of] = Refusal{of.name, of.address, fault.Cause(err), now}
}

// forgetOldest forgets the refusal that was noted first. The caller holds the lock.
func (f *Refusals) forgetOldest() {
	oldest := slices.MinFunc(slices.Collect(maps.Keys(f.list)), func(a, b refusedSlave) int {
		return f.list[a].At.Compare(f.list[b].At)
	})
	delete(f.list, oldest)
}

// List returns the refusals of the last minute, by name.
func (f *Refusals) List(now time.Time) (list []Refusal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.list {
		if now.Sub(r.At) <= Remembered {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	return list
}

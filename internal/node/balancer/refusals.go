package balancer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/schema/pb"
)

const (
	// refusedFor is how long a refusal is remembered; a slave that is refused tries again within seconds.
	refusedFor = time.Minute
	// mostRefused bounds the refusals that are remembered, whoever calls.
	mostRefused = 64
)

// refusals remembers which slaves were refused lately, and why.
type refusals struct {
	mu   sync.Mutex
	list map[refusedSlave]refusal // guarded by mu
}

type refusedSlave struct{ name, address string }

type refusal struct {
	why string
	at  time.Time
}

// note records how a registration ended. A balancer that cannot decide now refuses nobody.
func (f *refusals) note(r *pb.RegisterRequest, err error, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := refusedSlave{r.GetName(), r.GetAddress()}
	if err == nil { // it may have been refused for the address that it advertised before
		maps.DeleteFunc(f.list, func(other refusedSlave, _ refusal) bool { return other.name == of.name })
		return
	}
	switch fault.KindOf(err) {
	case fault.Conflict, fault.Invalid, fault.Version, fault.Forbidden, fault.Overloaded:
	default:
		delete(f.list, of)
		return
	}
	maps.DeleteFunc(f.list, func(_ refusedSlave, f refusal) bool { return now.Sub(f.at) > refusedFor })
	if _, known := f.list[of]; !known && len(f.list) >= mostRefused {
		f.forgetOldest()
	}
	if f.list == nil {
		f.list = make(map[refusedSlave]refusal)
	}
	f.list[of] = refusal{fault.Cause(err), now}
}

// forgetOldest forgets the refusal that was noted first. The caller holds the lock.
func (f *refusals) forgetOldest() {
	oldest := slices.MinFunc(slices.Collect(maps.Keys(f.list)), func(a, b refusedSlave) int {
		return f.list[a].at.Compare(f.list[b].at)
	})
	delete(f.list, oldest)
}

// shown returns the refusals of the last minute, by name.
func (f *refusals) shown(now time.Time) (list []api.RefusedSlave) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for of, r := range f.list {
		if now.Sub(r.at) <= refusedFor {
			list = append(list, api.RefusedSlave{Name: of.name, Address: of.address, Why: r.why})
		}
	}
	slices.SortFunc(list, func(a, b api.RefusedSlave) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Address, b.Address))
	})
	return list
}

// copied returns why a slave's directory is taken for a copy of another slave's: both have the same instance. It returns ""
// if it is not. The caller holds the lock.
func (b *Balancer) copied(name string, instance uint64) string {
	if instance == 0 {
		return ""
	}
	of := ""
	for other, n := range b.slaves {
		if other != name && n.instance == instance && !n.copy { // the original is no copy of its copy
			of = max(of, other)
		}
	}
	if m := b.mapper.Model(); m != nil && of == "" {
		for _, s := range m.Slaves() {
			if n := b.slaves[s.Name]; s.Name != name && s.Instance == instance && (n == nil || !n.copy) {
				of = s.Name
			}
		}
	}
	if of == "" {
		return ""
	}
	return fmt.Sprintf("its `dir` is a copy of that of %s: stop it, empty its `dir` and start it again; or, if %s was renamed, `adshard slaves remove %s`", of, of, of)
}

// refused returns the slaves that were refused lately, and those whose directory is a copy of another slave's.
func (b *Balancer) refused() []api.RefusedSlave {
	list := b.refusals.shown(time.Now())
	for _, r := range b.cfg.Credentials.Refused(refusedFor) {
		list = append(list, api.RefusedSlave{Name: r.Name, Address: r.From, Why: r.Why})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(b.slaves)) {
		n := b.slaves[name]
		if why := b.copied(name, n.instance); why != "" && n.copy {
			list = append(list, api.RefusedSlave{Name: name, Address: n.address, Why: why})
		}
	}
	return list
}

package balance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Slave is a process that holds data: a replica of a shard, or a spare.
type Slave struct {
	// Name is unique.
	Name string
	Site
	// Shard is the shard whose slices the slave is to hold, or 0 for a spare.
	Shard ShardID
	// In is set while the slave belongs to the set of replicas of its shard, which
	// masters ask.
	In bool
	// Left is set for a spare while masters may still have a revision in which it had a
	// shard: it is the revision in which it left the shard. Until it is 0, the spare
	// deletes nothing.
	Left uint64
	// Drained says that the slave is to be stopped, and so gets no shard.
	Drained bool
}

// Site is where a slave is.
type Site struct {
	// Address and Zone are passed on. Slaves of one zone may fail together. Zone is ""
	// if unknown.
	Address, Zone string
	// Instance identifies the slave's directory. Another process at the same address has
	// another instance, and so has this slave after its directory was emptied. It is 0
	// if unknown.
	Instance uint64
}

// Slaves returns all slaves in the order of their names. The result must not be
// modified.
func (m *Model) Slaves() []Slave { return m.slaves }

// Slave returns the slave with this name.
func (m *Model) Slave(name string) (Slave, bool) {
	i, ok := slices.BinarySearchFunc(m.slaves, name, byName)
	if !ok {
		return Slave{}, false
	}
	return m.slaves[i], true
}

func byName(s Slave, name string) int { return strings.Compare(s.Name, name) }

// Replicas returns the slaves of a shard in the order of their names: those in its set,
// and those being filled. The result must not be modified.
func (m *Model) Replicas(shard ShardID) []Slave { return m.byShard[shard] }

// Set returns the slaves of a shard that masters ask, in the order of their names.
func (m *Model) Set(shard ShardID) (list []Slave) {
	for _, s := range m.byShard[shard] {
		if s.In {
			list = append(list, s)
		}
	}
	return list
}

// TableOf returns the slices that a slave is to hold and serve. They are those of its
// shard, or none if the slave is a spare or unknown.
func (m *Model) TableOf(slave string) Table {
	s, _ := m.Slave(slave)
	sh, ok := m.Shard(s.Shard)
	if !ok {
		t := m.Header()
		t.Spare = true
		return t
	}
	t := m.Table(sh.ID)
	t.Shard = sh.ShardOf(slave)
	return t
}

// ShardOf returns the name of the shard as the table of one of its slaves has it: "" if
// the slave has the same name.
func (sh Shard) ShardOf(slave string) string {
	if sh.Name == slave {
		return ""
	}
	return sh.Name
}

// WithMembers returns the model with the slaves and the revision of a later model.
// Masters get this model, since they need not wait for a view to learn which slaves to
// ask.
func (m *Model) WithMembers(later *Model) *Model {
	if m.revision == later.revision {
		return m
	}
	c := *m
	c.slaves, c.byShard, c.revision = later.slaves, later.byShard, later.revision
	return &c
}

// Compose makes the model before the first plan. Each shard gets `replicas` of the
// slaves, in different zones as far as the zones are known. The remaining slaves are
// spares. If there are too few slaves for even one shard, one shard gets those that
// there are. With one replica, a shard has the name of its slave. The order of the
// slaves decides which of them get the first shards.
func Compose(list []Slave, replicas int) (*Model, error) {
	replicas = max(1, replicas)
	m := &Model{nextSlice: 2, nextShard: 1}
	rest := slices.Clone(list)
	for i := range rest {
		rest[i] = Slave{Name: rest[i].Name, Site: rest[i].Site}
	}
	for len(rest) > 0 {
		chosen := PickApart(rest, replicas)
		if len(chosen) < replicas && len(m.shards) > 0 {
			break
		}
		sh := Shard{ID: m.nextShard, Name: m.shardName(chosen, replicas)}
		m.nextShard++
		m.shards = append(m.shards, sh)
		rest = slices.DeleteFunc(rest, func(s Slave) bool { return slices.Contains(chosen, s.Name) })
		for _, name := range chosen {
			i := slices.IndexFunc(list, func(s Slave) bool { return s.Name == name })
			m.slaves = append(m.slaves, Slave{Name: name, Site: list[i].Site, Shard: sh.ID, In: true})
		}
	}
	m.slaves = append(m.slaves, rest...)
	slices.SortFunc(m.slaves, func(a, b Slave) int { return cmp.Compare(a.Name, b.Name) })
	m.slices = []Slice{{ID: 1, Hi: MaxKey, Generation: 1, Shard: 1}}
	return m, m.check()
}

// PickApart returns the names of at most n slaves, no two of which are in the same zone.
// It takes the first slave of each of the zones with the most slaves, so that zones of
// unequal size are used up evenly. Among zones of equal size, those that come first in
// the list are taken.
func PickApart(list []Slave, n int) (names []string) {
	size := make(map[string]int)
	for _, s := range list {
		size[s.Zone]++
	}
	size[""] = 0 // each slave without a zone is treated as a zone of its own
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(a, b Slave) int { return cmp.Compare(size[b.Zone], size[a.Zone]) })
	used := make(map[string]bool)
	for _, s := range order {
		if len(names) < n && (s.Zone == "" || !used[s.Zone]) {
			used[s.Zone] = true
			names = append(names, s.Name)
		}
	}
	return names
}

// shardName returns the name for the next shard, of these slaves.
func (m *Model) shardName(slaves []string, replicas int) string {
	return shardName(m.nextShard, slaves, replicas, func(name string) bool {
		_, taken := m.Named(name)
		return taken
	})
}

// shardName returns the name of a new shard. It is the name of its slave if there is one
// replica and no other shard has that name. Otherwise it is made from the shard's
// number, which no other shard ever has.
func shardName(id ShardID, slaves []string, replicas int, taken func(string) bool) string {
	if replicas == 1 && len(slaves) == 1 && !taken(slaves[0]) {
		return slaves[0]
	}
	name := fmt.Sprintf("shard-%d", id-1)
	for taken(name) { // by a shard that has the name of its slave
		name += "-"
	}
	return name
}

// Asked reports whether masters ask a slave, provided that it is alive.
func (m *Model) Asked(s Slave) bool {
	sh, _ := m.Shard(s.Shard)
	return s.In && sh.State != Drained
}

// MaxReplicas bounds the number of replicas.
const MaxReplicas = 16

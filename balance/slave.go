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
	// Shard is the one whose slices it is to hold; 0: it is a spare.
	Shard ShardID
	// In is set while it belongs to its shard's set of replicas: masters ask it.
	In bool
	// Left is, of a spare, the revision in which it left its shard, as long as
	// masters may have an older one. Until then it deletes nothing. 0: none may.
	Left uint64
	// Drained: it is to be stopped, and gets no shard.
	Drained bool
}

// Site is where a slave is.
type Site struct {
	// Address and Zone are passed on. Slaves of one zone may fail together; "": unknown.
	Address, Zone string
	// Instance is that of its directory: another process at the address has another one,
	// and so has this slave once its directory was emptied. 0: unknown.
	Instance uint64
}

// Slaves returns all slaves, by name; not to be modified.
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

// Replicas returns the slaves of a shard, by name: those of its set and those that
// are being filled. Not to be modified.
func (m *Model) Replicas(shard ShardID) []Slave { return m.byShard[shard] }

// Set returns the slaves of a shard that masters ask, by name.
func (m *Model) Set(shard ShardID) (list []Slave) {
	for _, s := range m.byShard[shard] {
		if s.In {
			list = append(list, s)
		}
	}
	return list
}

// TableOf returns what a slave is to hold and serve: what its shard's Table says,
// and nothing if it is a spare or unknown.
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

// ShardOf returns the shard's name as it stands in the table of one of its slaves.
func (sh Shard) ShardOf(slave string) string {
	if sh.Name == slave {
		return ""
	}
	return sh.Name
}

// WithMembers returns the model with the slaves, and so the revision, of a later
// one: what masters get, since they need not wait for views to learn whom to ask.
func (m *Model) WithMembers(later *Model) *Model {
	if m.revision == later.revision {
		return m
	}
	c := *m
	c.slaves, c.byShard, c.revision = later.slaves, later.byShard, later.revision
	return &c
}

// Compose makes the model before the first plan, in which each shard has so many
// of these slaves, in different zones as far as they say which. The remaining ones
// are spares; if no shard could have all of its replicas, there is one of those
// that there are. With one replica a shard has its slave's name. The
// order of the slaves decides which get the first shards.
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

// PickApart returns the names of at most n slaves, no two of one zone: of each of
// the zones with the most slaves the first one, so that zones of unequal size are
// used up evenly, and then those named first.
func PickApart(list []Slave, n int) (names []string) {
	size := make(map[string]int)
	for _, s := range list {
		size[s.Zone]++
	}
	size[""] = 0 // each of them counts as a zone of its own
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

// shardName returns the name of the next shard, of these slaves.
func (m *Model) shardName(slaves []string, replicas int) string {
	return shardName(m.nextShard, slaves, replicas, func(name string) bool {
		_, taken := m.Named(name)
		return taken
	})
}

// shardName returns the name of a new shard: its slave's if it has but one and no
// other shard is called so, else one by its number, which no other ever has.
func shardName(id ShardID, slaves []string, replicas int, taken func(string) bool) string {
	if replicas == 1 && len(slaves) == 1 && !taken(slaves[0]) {
		return slaves[0]
	}
	name := fmt.Sprintf("shard-%d", id-1)
	for taken(name) { // by a slave with one replica
		name += "-"
	}
	return name
}

// Asked reports whether masters ask a slave, if it lives.
func (m *Model) Asked(s Slave) bool {
	sh, _ := m.Shard(s.Shard)
	return s.In && sh.State != Drained
}

// MaxReplicas bounds the number of replicas.
const MaxReplicas = 16

package replicas

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	balancemaps "adshard/balance/maps"
	"adshard/balance/verify"
	"adshard/fault"
)

// Membership manages which slaves are replicas of which shards. It changes this one step at a time,
// and only while the model does not change otherwise:
//
//   - a slave that left its shard may delete its data once no master has an older revision;
//   - a slave that has been filled and certified joins its shard's set;
//   - a slave leaves its set if it holds up the publication of a view, if its copy differs from the
//     source of truth, or if it lacks most of the shard, provided that another replica answers;
//   - shards that lack replicas get spares, beginning with the shard that lacks most; those that have
//     too many release some;
//   - if there are enough spares that no shard needs, they form a new shard;
//   - if there are too few slaves for all shards, one shard ends.
//
// It guarantees that a slave joins a set only if it has everything that its shard serves and each
// part of it was found right. It also guarantees that no slave leaves a set unless other slaves of
// the set answer.
type Membership struct {
	*cluster.Cluster
	*cluster.Journal
	verify   *verify.Verifier
	views    *balancemaps.Views
	replicas int                      // number of replicas wanted
	changed  bool                     // replicas is not durable yet
	next     time.Duration            // when the replicas are looked at next
	free     map[string]time.Duration // when spares may delete their data, once all masters know that they left
	entered  map[string]uint64        // for each slave in a set, a revision in which it was in the set
	short    string                   // why a shard lacks replicas, as last reported
	// entrances has the slaves that are to join a set, by name.
	entrances map[string]*entrance
	fillings  map[string]*filling // by the names of slaves
}

// membershipPace is the time between two checks of the replicas of all shards.
const membershipPace = 200 * time.Millisecond

// New returns the membership of a cluster, whose shards get as many replicas as the configuration
// says.
func New(c *cluster.Cluster, j *cluster.Journal, q *verify.Verifier, w *balancemaps.Views) *Membership {
	return &Membership{
		Cluster: c, Journal: j, verify: q, views: w, replicas: c.Config.Replicas, free: map[string]time.Duration{},
		entered: map[string]uint64{}, entrances: map[string]*entrance{}, fillings: map[string]*filling{},
	}
}

// Resume takes over the number of replicas of an earlier mapper, unless the configured number has
// changed since.
func (s *Membership) Resume(was balance.State) {
	if was.Replicas > 0 && was.Configured == s.replicas {
		s.replicas = was.Replicas
	}
}

// Unsaved reports whether the number of replicas has changed and is not durable yet.
func (m *Membership) Unsaved() bool { return m.changed }

// Save returns the number of replicas, and treats it as saved.
func (m *Membership) Save() int {
	m.changed = false
	return m.replicas
}

// Replicas returns the number of slaves that are to hold each slice.
func (m *Membership) Replicas() int { return m.replicas }

// SetReplicas sets the number of slaves that are to hold each slice.
func (m *Membership) SetReplicas(now time.Duration, replicas int) {
	if replicas != m.replicas {
		m.replicas, m.changed, m.next = replicas, true, now
		m.Event(cluster.Event{Text: "each slice is to be held by " + cluster.Counted(replicas, "slave")})
	}
}

// Arrange adds to an edit the changes of replicas that are due.
func (m *Membership) Arrange(now time.Duration, e *cluster.Edit) {
	if now < m.next {
		return
	}
	m.next = now + membershipPace
	m.entrancesOf(now)
	m.noteEntered()
	m.freeSpares(now, e)
	m.expel(now, e)
	for _, s := range m.Model.Slaves() {
		if w := m.entrances[s.Name]; w != nil && w.waits == "" {
			e.Try(func(e *balance.Edit) error { return e.Enter(s.Name) })
		}
	}
	if !m.Paused {
		m.staff(now, e)
	}
}

// noteEntered notes for each slave in a set a revision in which it was there.
func (m *Membership) noteEntered() {
	in := make(map[string]bool)
	for _, s := range m.Model.Slaves() {
		in[s.Name] = s.In
		if _, ok := m.entered[s.Name]; s.In && !ok {
			m.entered[s.Name] = m.Model.Revision()
		}
	}
	maps.DeleteFunc(m.entered, func(name string, _ uint64) bool { return !in[name] })
}

// freeSpares lets spares delete their data when no query can need them any more.
func (m *Membership) freeSpares(now time.Duration, e *cluster.Edit) {
	_, oldest := m.views.OldestAsked(now)
	for _, s := range m.Model.Slaves() {
		if s.Left == 0 {
			delete(m.free, s.Name)
			continue
		}
		if oldest < s.Left { // the time may start again: a master that seemed lost is back, with its old map
			delete(m.free, s.Name)
			continue
		}
		if _, ok := m.free[s.Name]; !ok {
			m.free[s.Name] = now + m.Config.Linger
		}
		if at, ok := m.free[s.Name]; ok && now >= at {
			e.Try(func(e *balance.Edit) error { return e.Free(s.Name) })
		}
	}
}

// expel removes slaves from their sets if they hold up a view, differ from the source of truth, or
// lack most of the shard, unless no other living replica can answer.
func (m *Membership) expel(now time.Duration, e *cluster.Edit) {
	for _, s := range m.Model.Slaves() {
		if !s.In || m.Remaining(now, s, e.Begun) < 1 {
			continue
		}
		if m.verify.DiscardsAny(s.Name) || m.holdsUp(now, s.Name) || m.hollow(now, s) {
			m.KeepHeld(s.Name)
			e.Try(func(e *balance.Edit) error { return e.Leave(s.Name) })
		}
	}
}

// Remaining returns how many slaves of a set could answer queries without one of them, after an edit.
// It counts slaves that were heard from a moment ago, have the oldest view that waits and most of the
// data, are not to discard anything, and do not leave the set by the edit. e may be nil.
func (m *Membership) Remaining(now time.Duration, without balance.Slave, e *balance.Edit) (n int) {
	for _, s := range m.Model.Set(without.Shard) {
		if s.Name != without.Name && e.Keeps(s.Name) && m.HeardLately(s.Name, now) &&
			!m.verify.DiscardsAny(s.Name) && !m.behind(s.Name) && !m.hollow(now, s) {
			n++
		}
	}
	return n
}

// behind reports whether a slave lacks the oldest view that waits for slaves.
func (m *Membership) behind(slave string) bool {
	is, _ := m.views.Behind(slave)
	return is
}

// holdsUp reports whether a view has waited for a slave for a long time.
func (m *Membership) holdsUp(now time.Duration, slave string) bool {
	if !m.Alive(slave, now) {
		return false
	}
	behind, since := m.views.Behind(slave)
	return behind && now >= since+m.Config.DeadAfter
}

// staff gives shards as many replicas as they should have.
func (m *Membership) staff(now time.Duration, e *cluster.Edit) {
	spares := m.spares(now)
	shards, short := m.shards(now), ""
	slices.SortStableFunc(shards, func(a, b shardState) int {
		return cmp.Or(cmp.Compare(a.living, b.living), cmp.Compare(len(a.kept), len(b.kept)))
	})
	for _, s := range shards {
		switch {
		case len(s.kept) < m.replicas:
			i := slices.IndexFunc(spares, s.takes)
			if i < 0 {
				short = cmp.Or(short, s.lack(m.replicas, len(spares)))
				continue
			}
			name := spares[i].Name
			spares = slices.Delete(spares, i, i+1)
			e.Try(func(e *balance.Edit) error { return e.Assign(name, s.id) })
			if len(s.lost) > 0 && s.living > 0 && len(s.kept)+len(s.lost) >= m.replicas { // otherwise they may still come back
				e.Try(func(e *balance.Edit) error { return e.Release(s.lost[0]) })
			}
		default:
			m.unstaff(now, e, s)
		}
	}
	if short != m.short && short != "" && m.replicas > 1 {
		m.Trouble(fault.Newf(fault.Unavailable, "balance: replicate", "%s", short))
	}
	m.short = short
	if short == "" {
		m.form(e, spares)
	}
	m.dissolve(now, e, shards, short != "" && len(spares) == 0)
}

// unstaff releases a replica if a shard has too many: a lost one, otherwise one that is being filled,
// otherwise the one whose name comes last.
func (m *Membership) unstaff(now time.Duration, e *cluster.Edit, s shardState) {
	release := ""
	switch n := m.replicas; {
	case len(s.lost) > 0 && s.living >= n:
		release = s.lost[0]
	case len(s.kept) > n && s.living >= n && len(s.filling) > 0:
		release = s.filling[0]
	case len(s.kept) > n && s.living > n:
		last := slices.DeleteFunc(slices.Clone(s.answering), func(name string) bool { return name == s.name })
		release = last[len(last)-1]
		if v, _ := m.Model.Slave(release); m.Remaining(now, v, e.Begun) < n {
			return
		}
	default:
		return
	}
	e.Try(func(e *balance.Edit) error { return e.Release(release) })
}

// form makes new shards of spares that no shard needs.
func (m *Membership) form(e *cluster.Edit, spares []balance.Slave) {
	for n := m.replicas; ; {
		chosen := balance.PickApart(spares, n)
		if len(chosen) < n {
			return
		}
		spares = slices.DeleteFunc(spares, func(s balance.Slave) bool { return slices.Contains(chosen, s.Name) })
		e.Try(func(e *balance.Edit) error {
			id, err := e.Form(e.ShardName(chosen, n))
			for _, name := range chosen {
				if err == nil {
					if err = e.Assign(name, id); err == nil {
						err = e.Enter(name)
					}
				}
			}
			return err
		})
	}
}

// dissolve ends the shard with the fewest living replicas while there are too few slaves for all
// shards. When there are enough again, the shard continues.
func (m *Membership) dissolve(now time.Duration, e *cluster.Edit, shards []shardState, needed bool) {
	slaves, ending := 0, balance.ShardID(0)
	for _, s := range m.Model.Slaves() {
		sh, _ := m.Model.Shard(s.Shard)
		if !s.Drained && (s.Shard == 0 || sh.State == balance.Active || sh.State == balance.Dissolving) {
			slaves++
		}
	}
	for _, sh := range m.Model.Shards() {
		if sh.State == balance.Dissolving {
			ending = sh.ID
		}
	}
	fit := max(1, slaves/m.replicas)
	switch {
	case ending != 0 && len(shards) < fit:
		e.Try(func(e *balance.Edit) error { return e.SetState(ending, balance.Active) })
	case ending == 0 && needed && len(shards) > fit:
		last := slices.MaxFunc(shards, func(a, b shardState) int {
			return cmp.Or(cmp.Compare(b.living, a.living), cmp.Compare(a.id, b.id))
		})
		e.Try(func(e *balance.Edit) error { return e.SetState(last.id, balance.Dissolving) })
	}
}

// shardState says which slaves a shard has.
type shardState struct {
	id   balance.ShardID
	name string
	// answering are the living slaves in its set, and filling are those that are not in it yet. kept
	// has both, and those that were lost only a moment ago. lost has the others.
	answering, filling, kept, lost []string
	living                         int
	zones                          []string // the zones of kept
}

// shards returns the states of the active shards, in the order of their ids.
func (m *Membership) shards(now time.Duration) (list []shardState) {
	for _, sh := range m.Model.Shards() {
		if sh.State != balance.Active {
			continue
		}
		s := shardState{id: sh.ID, name: sh.Name}
		for _, v := range m.Model.Replicas(sh.ID) {
			if _, long := m.Lost(v.Name, now); long {
				s.lost = append(s.lost, v.Name)
				continue
			}
			s.kept, s.zones = append(s.kept, v.Name), append(s.zones, v.Zone)
			switch {
			case !v.In:
				s.filling = append(s.filling, v.Name)
			case m.Alive(v.Name, now):
				s.answering = append(s.answering, v.Name)
			}
		}
		s.living = len(s.answering)
		list = append(list, s)
	}
	return list
}

// takes reports whether a spare is in a different zone than all slaves of the shard.
func (s shardState) takes(spare balance.Slave) bool {
	return spare.Zone == "" || !slices.Contains(s.zones, spare.Zone)
}

// lack says how many replicas a shard lacks, and why.
func (s shardState) lack(replicas, spares int) string {
	why := "there is no spare"
	if spares > 0 {
		why = "each spare is in a zone of one of its replicas"
	}
	return fmt.Sprintf("shard %s has %d of %d replicas (%s), and %s: add a slave", s.name, len(s.kept), replicas, strings.Join(s.kept, ", "), why)
}

// spares returns the slaves that may get a shard, in the order of their names.
func (m *Membership) spares(now time.Duration) (list []balance.Slave) {
	for _, s := range m.Model.Slaves() {
		if s.Shard == 0 && s.Left == 0 && !s.Drained && m.Alive(s.Name, now) && m.Slave(s.Name).Trouble == "" {
			list = append(list, s)
		}
	}
	return list
}

// WaitsFor says, by slave, what slaves wait for that do not serve yet or have stopped serving.
func (m *Membership) WaitsFor(now time.Duration) map[string]string {
	_, oldest := m.views.OldestAsked(now)
	out := make(map[string]string)
	for _, s := range m.Model.Slaves() {
		entered, in := m.entered[s.Name]
		switch {
		case s.Left != 0:
			out[s.Name] = "all masters to learn that it left its shard"
		case s.Shard == 0:
		case s.In && (!in || 0 < oldest && oldest < entered): // 0: unknown
			out[s.Name] = "all masters to learn that it joined its set"
		case !s.In:
			out[s.Name] = "its set to change"
			if w := m.entrances[s.Name]; w != nil && w.waits != "" {
				out[s.Name] = w.waits
			}
		}
	}
	return out
}

package fanout

import (
	"context"
	"log/slog"
	"time"

	"adshard/internal/node/fanout/choice"
	"adshard/search"
)

const (
	// tickEvery is the time between two checks of the replicas.
	tickEvery = 25 * time.Millisecond
	// probeTime is how long a probe waits. There is always one under way to a silent replica, so
	// that the replica is taken back as soon as it answers.
	probeTime = time.Second
)

// Absence says why a replica is not asked.
type Absence string

// The absences. An ejected replica is asked if no other is in.
const (
	Present Absence = ""
	Silent  Absence = "silent"  // it has stopped answering
	Ejected Absence = "ejected" // calls to it fail, or it serves less than its part
)

func absenceOf(r *choice.Replica) Absence {
	switch {
	case r.Silent():
		return Silent
	case !r.In():
		return Ejected
	}
	return Present
}

// probed is the outcome of a probe.
type probed struct {
	of      *choice.Replica
	outcome choice.Outcome
}

// member names a replica of a shard.
type member struct{ shard, replica string }

// Run leaves out replicas that have stopped answering or fail, and takes them back when they answer
// again, until ctx is done; then it returns nil. Without Run, no replica is left out permanently.
func (f *Fanout) Run(ctx context.Context, log *slog.Logger) error {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	out := make(map[member]Absence) // as last reported
	ends := make(chan probed)
	under := 0 // probes under way
	defer func() {
		for ; under > 0; under-- {
			<-ends
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case p := <-ends:
			under--
			p.of.Probed(f.now(), p.outcome)
		case <-tick.C:
			under += f.look(ctx, ends)
			f.reportLeftOut(out, log)
		}
	}
}

// look starts the probes that are due, and returns how many it has started.
func (f *Fanout) look(ctx context.Context, ends chan<- probed) (started int) {
	m := f.maps.Current()
	if m == nil {
		return 0
	}
	for i := range m.Shards {
		s := &m.Shards[i]
		for _, r := range s.Replicas {
			if r.Known.Tick(f.now()) {
				started++
				go func() { ends <- probed{r.Known, probe(ctx, m, s, r.Slave)} }()
			}
		}
	}
	return started
}

// probe sends an empty search to a slave.
func probe(ctx context.Context, m *Map, of *Shard, s Slave) choice.Outcome {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	r := &search.Request{Query: new(search.Query), Profile: search.DefaultProfile(), Slots: 1, Reserve: 1, View: m.View}
	a, err := Ask(ctx, s, r)
	if err != nil {
		return outcomeOf(err)
	}
	w, err := judge(of, a)
	if err != nil {
		return outcomeOf(err)
	}
	return w.outcome
}

// reportLeftOut reports which replicas of the newest map are left out: each of them once, and again
// when that changes. `out` has what was reported before.
func (f *Fanout) reportLeftOut(out map[member]Absence, log *slog.Logger) {
	m := f.maps.Current()
	if m == nil {
		return
	}
	members := 0
	for i := range m.Shards {
		s := &m.Shards[i]
		members += len(s.Replicas)
		for _, r := range s.Replicas {
			key, now := member{s.Name, r.Name}, absenceOf(r.Known)
			was, reported := out[key]
			if reported && now == was {
				continue
			}
			out[key] = now
			f.leftOut(key, now)
			switch {
			case now != Present:
				log.Warn("a slave is left out until it answers a probe", "shard", s.Name, "replica", r.Name, "why", string(now))
			case was != Present:
				log.Info("a slave answers again", "shard", s.Name, "replica", r.Name)
			}
		}
	}
	if len(out) == members {
		return
	}
	for key := range out { // the map no longer names this replica
		if !m.has(key) {
			delete(out, key)
			f.leftOut(key, Present)
		}
	}
}

// has reports whether the map names a replica.
func (m *Map) has(key member) bool {
	for i := range m.Shards {
		for _, r := range m.Shards[i].Replicas {
			if m.Shards[i].Name == key.shard && r.Name == key.replica {
				return true
			}
		}
	}
	return false
}

func (f *Fanout) leftOut(key member, why Absence) {
	if f.observer != nil {
		f.observer.LeftOut(key.shard, key.replica, why)
	}
}

package fanout

import (
	"context"
	"log/slog"
	"time"

	"adshard/search"
)

const (
	// tickEvery is the time between two checks of the shards.
	tickEvery = 25 * time.Millisecond
	// probeTime is how long a probe waits: one is always under way to a shard
	// that is left out, so that it is taken back as soon as it answers.
	probeTime = time.Second
)

// probed is the end of a probe.
type probed struct {
	of  *Presence
	err error
}

// Run leaves out shards that have stopped answering and takes them back when
// they answer again, until ctx is done; it returns nil then. Without it none is
// left out.
func (f *Fanout) Run(ctx context.Context, log *slog.Logger) error {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	out := make(map[string]bool) // as last reported
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
			p.of.Probed(f.now(), p.err)
		case <-tick.C:
			under += f.look(ctx, ends)
			f.reportLeftOut(out, log)
		}
	}
}

// look starts the probes that are due and returns how many it started.
func (f *Fanout) look(ctx context.Context, ends chan<- probed) (started int) {
	m := f.maps.Current()
	if m == nil {
		return 0
	}
	for i := range m.Shards {
		s := &m.Shards[i]
		if s.Presence == nil || !s.Presence.Tick(f.now()) {
			continue
		}
		started++
		go func() { ends <- probed{s.Presence, probe(ctx, s.Slave)} }()
	}
	return started
}

// probe sends a slave an empty search.
func probe(ctx context.Context, s Slave) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	_, err := Ask(ctx, s, &search.Request{Query: new(search.Query), Profile: search.DefaultProfile(), Slots: 1, Reserve: 1})
	return err
}

// reportLeftOut reports which shards of the newest map are left out: each shard once,
// and then when that changes. out has what was reported before.
func (f *Fanout) reportLeftOut(out map[string]bool, log *slog.Logger) {
	m := f.maps.Current()
	if m == nil {
		return
	}
	for i := range m.Shards {
		s := &m.Shards[i]
		now := s.Presence.Out()
		was, reported := out[s.Name]
		if reported && now == was {
			continue
		}
		out[s.Name] = now
		f.leftOut(s.Name, now)
		switch {
		case now:
			log.Warn("a slave does not answer; it is left out until it does", "shard", s.Name)
		case was:
			log.Info("a slave answers again", "shard", s.Name)
		}
	}
	if len(out) == len(m.Shards) {
		return
	}
	for name := range out { // the map does not name it any more
		if !m.has(name) {
			delete(out, name)
			f.leftOut(name, false)
		}
	}
}

func (f *Fanout) leftOut(name string, out bool) {
	if f.observer != nil {
		f.observer.LeftOut(name, out)
	}
}

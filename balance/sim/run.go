package sim

import (
	"time"

	"adshard/balance"
	"adshard/balance/maps"
	"adshard/fault"
)

// runTimes returns the times of production.
func runTimes() times {
	return times{
		poll: 20 * time.Millisecond, report: time.Second, timeout: 5 * time.Second,
		unheard: 3 * time.Second, grace: 2 * time.Second, keep: 1 << 20, query: 5 * time.Second,
		watch: 2 * time.Second, seed: time.Second,
		maps: maps.Times{Silent: 3 * time.Second, FirstPause: 50 * time.Millisecond, LongestPause: time.Second},
	}
}

// Run fills a cluster, runs its trace, and returns what happened. Errors: fault.Invalid
// if the configuration is not valid, fault.Unavailable if the first fill takes longer
// than Config.Warm, fault.Internal if a state machine rejects what it must accept.
func Run(cfg Config) (*Result, error) {
	cfg = cfg.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	w := newWorld(cfg, runTimes())
	w.stats = &stats{interval: newInterval(), all: newInterval()}
	w.db.load(cfg.Items)
	w.paused = true
	w.start()
	for !w.whole() {
		if w.broken != nil {
			return nil, w.broken
		}
		if w.now > cfg.Warm {
			return nil, fault.Newf(fault.Unavailable, "sim: run", "the first fill is not over after %v", cfg.Warm)
		}
		w.run(w.now + 50*time.Millisecond)
	}
	w.stats.begin(w.now)
	w.begin()
	w.run(w.stats.from + cfg.Duration)
	return w.stats.end(w), w.broken
}

// whole reports whether the whole ring is served and all masters know it.
func (w *world) whole() bool {
	b, err := w.running()
	if err != nil || b.mapper.Published() == nil {
		return false
	}
	view := b.mapper.Published().View()
	var width balance.Key
	served := false
	for _, s := range w.slaves {
		for _, h := range s.disk.served(view) {
			width, served = width+h.Hi-h.Lo+1, true
		}
		if s.disk.table.View < view || !s.caughtUp {
			return false
		}
	}
	for _, m := range w.masters {
		if m.have.View != view {
			return false
		}
	}
	return served && width == 0
}

// begin starts the strategy, the trace and the samples.
func (w *world) begin() {
	w.paused, w.current = false, w.cfg.Strategy
	if b, err := w.running(); err == nil {
		b.mapper.Use(b.time(), w.current)
		b.mapper.Pause(false)
		b.carry()
	}
	var sample func()
	sample = func() {
		if b, err := w.running(); err == nil && b.mapper.Model() != nil {
			w.stats.sample(w, b.mapper.Model())
		}
		w.after(w.cfg.Sample, sample)
	}
	w.after(w.cfg.Sample, sample)
	if w.cfg.Trace != nil {
		w.next()
	}
}

// next schedules the next query of the trace.
func (w *world) next() {
	q, more := w.cfg.Trace()
	if !more {
		return
	}
	w.at(w.stats.from+q.At, func() {
		w.query(q)
		w.next()
	})
}

// query makes every slave do its part of a query, in the view of a master.
func (w *world) query(q Query) {
	m := w.masters[w.stats.all.queries%len(w.masters)]
	costs := make([]float64, len(w.slaves))
	seen := make([]uint8, len(q.Items))
	dearest, last, width, answered := 0.0, w.now, balance.Key(0), false
	for _, i := range q.Items {
		dearest = max(dearest, i.Micros)
		w.stats.interval.items[i.Key] += i.Micros
	}
	for n, s := range w.slaves {
		served, _ := s.search(m.have.View, s.shard(s.disk.table))
		if !s.up {
			continue
		}
		s.load.queries++
		at := 0
		for _, h := range served {
			width, answered = width+h.Hi-h.Lo+1, true
			for at < len(q.Items) && q.Items[at].Key < h.Lo {
				at++
			}
			for ; at < len(q.Items) && q.Items[at].Key <= h.Hi; at++ {
				if _, held := s.disk.items[q.Items[at].Key]; held {
					seen[at]++
				}
				costs[n] += q.Items[at].Micros
				s.load.count(h, q.Items[at])
			}
		}
		w.work(&s.process, time.Duration((costs[n]+w.cfg.QueryMicros)*float64(time.Microsecond)), func() {})
		last = max(last, s.busy)
	}
	w.stats.answered(costs, dearest, last-w.now+2*w.cfg.Latency)
	w.stats.counted(w.db, q, seen, answered && width == 0)
}

// begin notes when the load starts.
func (t *stats) begin(now time.Duration) {
	t.from, t.result.Fill = now, now
	t.now, t.left, t.interval, t.all = Totals{}, nil, newInterval(), newInterval()
}

// counted counts the items that the answer of a query had or lacked.
func (t *stats) counted(db *database, q Query, seen []uint8, whole bool) {
	if !whole {
		return
	}
	t.result.Complete++
	for i, n := range seen {
		if _, there := db.items[q.Items[i].Key]; n > 1 {
			t.result.Doubled++
		} else if n == 0 && there {
			t.result.Missed++
		}
	}
}

// end completes the result.
func (t *stats) end(w *world) *Result {
	r := &t.result
	for _, s := range w.slaves {
		r.Slaves = append(r.Slaves, s.name)
	}
	r.Queries, r.Total, r.Expected = t.all.queries, t.now, 1
	if t.all.measured > 0 {
		r.Expected = t.all.expected / float64(t.all.measured)
	}
	r.Critical, r.Latency = quantiles(t.all.critical), quantiles(t.all.latency)
	return r
}

package esdb

import "time"

// client is a write client: it generates writes, keeps them in one queue, and routes
// each by the rules that it knows.
type client struct {
	s           *sim
	id          uint8
	heard       time.Duration // when the master's last message arrives: messages keep their order
	clock       time.Duration // how far its clock is ahead
	rules       *rules
	queue       []write
	head        int
	outstanding []int         // of each node
	owed        float64       // fraction of a write
	newest      time.Duration // the latest creation time of a write that it has routed
	// blocked: a rule that takes effect at until is being agreed on. Writes that are
	// created later wait.
	blocked bool
	until   time.Duration
}

// generate generates the writes of one tick, if the queue has room.
func (c *client) generate() {
	s := c.s
	phase := s.phase()
	d := s.skews[phase.Theta]
	for c.owed += s.Rate / clients * tick.Seconds() / float64(s.Each); c.owed >= 1; c.owed-- {
		if s.Buffer > 0 && (len(c.queue)-c.head)*s.Each >= s.Buffer {
			c.owed = 0 // the generator waits
			break
		}
		s.record++
		c.queue = append(c.queue, write{tenant: Tenant((d.Draw(s.rand) + phase.Shift) % s.Tenants), record: s.record, born: s.now, created: s.now + c.clock})
	}
	c.dispatch()
}

// phase returns the current phase of the writes.
func (s *sim) phase() *Phase {
	i := len(s.Phases) - 1
	for i > 0 && s.Phases[i].From > s.now {
		i--
	}
	return &s.Phases[i]
}

// dispatch sends writes in the order of the queue until one has to wait.
func (c *client) dispatch() {
	s := c.s
	for c.head < len(c.queue) {
		w := &c.queue[c.head]
		if c.blocked && w.created > c.until {
			break
		}
		w.shard = int32(shard(w.tenant, w.record, c.spread(w), shards))
		n := int(w.shard) % nodes
		if c.outstanding[n]*s.Each >= window {
			break
		}
		c.outstanding[n]++
		c.newest = max(c.newest, w.created)
		c.send(*w)
		c.head++
	}
	if c.head > 1024 && 2*c.head > len(c.queue) {
		c.queue = c.queue[:copy(c.queue, c.queue[c.head:])]
		c.head = 0
	}
}

// spread returns the number of shards over which the policy spreads the tenant of a
// record.
func (c *client) spread(w *write) int {
	switch c.s.Policy {
	case Double:
		return doubleSpread
	case Dynamic:
		return c.rules.write(w.tenant, w.created)
	}
	return 1
}

// send sends a write to its shard, which executes one after another, and then to its
// node.
func (c *client) send(w write) {
	s := c.s
	at := s.now + latency
	if s.ShardRate > 0 {
		free := &s.shardFree[w.shard]
		*free = max(*free, at) + time.Duration(float64(s.Each)/s.ShardRate*float64(time.Second))
		at = *free
	}
	if s.check {
		s.routed = append(s.routed, w)
	}
	s.events.add(event{at: at, kind: primary, client: c.id, write: w})
}

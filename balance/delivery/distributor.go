package delivery

import (
	"cmp"
	"slices"
	"time"

	"adshard/balance"
	"adshard/fault"
)

// Config bounds the buckets that a Distributor prepares.
type Config struct {
	Epoch uint64
	// BucketBytes is the size of a bucket that is aimed at. A single item may be
	// larger.
	BucketBytes int
	// NodeBytes and Ahead bound the bytes and the number of buckets that are ready for
	// a slave. If either is reached, no further bucket is made for it.
	NodeBytes, Ahead int
	// Changes is the number of newest changes that are remembered. Entries is the
	// greatest number of entries in a bucket.
	Changes, Entries int
	// Repeat is how many bytes per second of the same item are sent because it keeps
	// changing. After an item was sent, its changes wait for the time that this takes,
	// at most Pause (deferral).
	Repeat int
	Pause  time.Duration
}

// The defaults of Config.
const (
	DefaultBucketBytes = 4 << 20
	DefaultNodeBytes   = 16 << 20
	DefaultAhead       = 2
	DefaultChanges     = 1 << 16
	DefaultEntries     = 1 << 14
	DefaultRepeat      = 4 << 20
	DefaultPause       = 250 * time.Millisecond
)

// WithDefaults returns the configuration with zero fields replaced by their defaults.
func (c Config) WithDefaults() Config {
	c.BucketBytes = cmp.Or(c.BucketBytes, DefaultBucketBytes)
	c.NodeBytes = cmp.Or(c.NodeBytes, DefaultNodeBytes)
	c.Ahead = cmp.Or(c.Ahead, DefaultAhead)
	c.Changes = cmp.Or(c.Changes, DefaultChanges)
	c.Entries = cmp.Or(c.Entries, DefaultEntries)
	c.Repeat = cmp.Or(c.Repeat, DefaultRepeat)
	c.Pause = cmp.Or(c.Pause, DefaultPause)
	return c
}

// Distributor makes node data for slaves (thesis 6.3.4). P is the content of a bucket.
// Changes and quanta go in, and buckets come out when slaves ask for them. Work says
// what must be read and built in between.
type Distributor[P any] struct {
	cfg   Config
	items balance.Items
	log   changeLog
	head  uint64            // the clock of the newest quantum: no change past it is processed
	wait  []balance.Quantum // quanta whose clock the log has not reached yet
	alone bool
	now   time.Duration // since some fixed moment

	model   *balance.Model
	tables  map[balance.ShardID]balance.Table // of the model
	number  uint64                            // of the newest quantum processed
	changed uint64                            // of the newest quantum that was not empty

	streams map[string]*stream[P]
	order   []string // names in the order of registration, which makes the order of work deterministic
	seq     uint64
	made    uint64  // number of buckets made
	perUnit float64 // bytes of a bucket per unit of weight, as measured
}

// startPerUnit is the first estimate of the bytes per unit of weight.
const startPerUnit = 256

// New starts a distributor whose log begins after clock. It reads items only during
// calls. They must be at least as new as the changes given to it.
func New[P any](cfg Config, items balance.Items, clock uint64) *Distributor[P] {
	cfg = cfg.WithDefaults()
	return &Distributor[P]{
		cfg: cfg, items: items, log: changeLog{base: clock, limit: cfg.Changes},
		streams: make(map[string]*stream[P]), perUnit: startPerUnit,
	}
}

// Changes adds changes to the log. They must be in ascending order of clocks, all above
// those before.
func (d *Distributor[P]) Changes(list []balance.Change) error {
	if err := d.log.append(list); err != nil {
		return err
	}
	return d.process()
}

// Quantum takes the next quantum. It is processed once all changes up to its clock are
// there, which may be at once (in the thesis, algorithm 3, the processing is inside the
// loop by mistake). A quantum with the whole model (reinitialising, thesis 6.3.8)
// replaces all quanta before it. Errors: fault.Stale if the epoch is lower or the
// number does not follow; fault.Conflict if the epoch is higher, since such a quantum
// is for a new distributor.
func (d *Distributor[P]) Quantum(q balance.Quantum) error {
	last := d.number
	if n := len(d.wait); n > 0 {
		last = d.wait[n-1].Number
	}
	const op = "balance: take quantum"
	switch {
	case q.Epoch < d.cfg.Epoch:
		return fault.Newf(fault.Stale, op, "quantum %d is of epoch %d, this is epoch %d", q.Number, q.Epoch, d.cfg.Epoch)
	case q.Epoch > d.cfg.Epoch:
		return fault.Newf(fault.Conflict, op, "quantum %d is of epoch %d, a balancer after this one (%d)", q.Number, q.Epoch, d.cfg.Epoch)
	case q.Model == nil && (last == 0 || q.Number != last+1) || q.Number < last:
		return fault.Newf(fault.Stale, op, "quantum %d comes after %d", q.Number, last)
	}
	if q.Model != nil {
		d.wait = nil
	}
	d.wait = append(d.wait, q)
	return d.process()
}

// Alone sets whether there is currently no mapper. Then changes are processed under the
// last model without waiting for a quantum. When a mapper is back, the clock of its
// first quantum must not be below Head.
func (d *Distributor[P]) Alone(alone bool) {
	d.alone = alone
	d.ahead()
}

// Tick sets the time, which never goes back. Items whose pause has ended are in the
// next Work.
func (d *Distributor[P]) Tick(now time.Duration) { d.now = max(d.now, now) }

// Head returns the clock up to which changes have been processed.
func (d *Distributor[P]) Head() uint64 { return d.head }

// ahead moves the head to the newest change if there is no mapper.
func (d *Distributor[P]) ahead() {
	if d.alone && d.model != nil {
		d.head = max(d.head, d.log.newest())
	}
}

// process takes the waiting quanta for which all changes have arrived.
func (d *Distributor[P]) process() error {
	for len(d.wait) > 0 && d.wait[0].Clock <= d.log.newest() {
		q := d.wait[0]
		d.wait = d.wait[1:]
		if err := d.take(q); err != nil {
			return err
		}
	}
	d.ahead()
	return nil
}

func (d *Distributor[P]) take(q balance.Quantum) error {
	d.head, d.number = max(d.head, q.Clock), q.Number
	if q.Empty() {
		return nil
	}
	model := q.Model
	if model == nil {
		next, err := d.model.Apply(q.Ops)
		if err != nil {
			return err
		}
		model = next
	}
	if model.View() != q.View {
		return fault.Newf(fault.Invalid, "balance: take quantum", "quantum %d gives view %d instead of %d", q.Number, model.View(), q.View)
	}
	before := d.model
	d.changed, d.model, d.tables = q.Number, model, model.Tables()
	for _, name := range slices.Clone(d.order) {
		s := d.streams[name]
		if d.place(s); s.known || before == nil {
			continue
		}
		if _, was := before.Slave(name); was {
			d.Forget(name) // it was removed; if it comes back, it registers again
		}
	}
	return nil
}

// Welcome is the answer to a slave's registration.
type Welcome struct {
	// CatchUp is the position at which the slave is considered caught up.
	CatchUp balance.Position
	// Refill is set if the slave's data cannot be used. Then its next bucket resets it.
	Refill bool
}

// Register registers a slave; newest is the clock of the newest change in the feed. The
// slave is filled from scratch if its data cannot be continued: they are foreign, its
// table and position contradict each other, or it has changes that the feed lacks.
// Errors: fault.Conflict if the slave has seen a later epoch.
func (d *Distributor[P]) Register(j balance.Joining, newest uint64) (Welcome, error) {
	if j.Position.Epoch > d.cfg.Epoch {
		return Welcome{}, fault.Newf(fault.Conflict, "balance: register",
			"slave %s has data of epoch %d, this balancer is of epoch %d: it is older, or the data belong to another database (then empty the slave's directory)",
			j.Name, j.Position.Epoch, d.cfg.Epoch)
	}
	s := &stream[P]{name: j.Name, acked: j.Position, end: j.Position, ahead: j.Position.Clock, table: j.Table}
	s.reset = j.Foreign || j.Position.Clock > newest || !j.Table.Sound(j.Position.Offset) ||
		j.Position == (balance.Position{}) && len(j.Table.Slices) > 0
	if _, ok := d.streams[j.Name]; !ok {
		d.order = append(d.order, j.Name)
	}
	d.streams[j.Name] = s
	if d.model == nil { // the first plan will cover all changes received here
		return Welcome{CatchUp: balance.Position{Epoch: d.cfg.Epoch, Clock: d.log.newest()}, Refill: s.reset}, nil
	}
	d.place(s)
	return Welcome{CatchUp: balance.Position{Epoch: d.cfg.Epoch, Clock: d.head, Quantum: d.changed}, Refill: s.reset}, nil
}

// Pull returns the bucket that begins at the slave's position, or nil if none is ready.
// It returns the same bucket until the slave asks from the end of it. Errors:
// fault.NotFound or fault.Stale if the slave must register first, because it is
// unknown, of another epoch, or at a position that is neither its last one nor the end
// of the bucket that it was given.
func (d *Distributor[P]) Pull(slave string, epoch uint64, at balance.Position) (*Bucket[P], error) {
	const op = "balance: pull"
	s, ok := d.streams[slave]
	if !ok {
		return nil, fault.Newf(fault.NotFound, op, "slave %s is not registered with epoch %d", slave, d.cfg.Epoch)
	}
	if epoch != d.cfg.Epoch {
		return nil, fault.Newf(fault.Stale, op, "slave %s asks epoch %d, this is epoch %d: register again", slave, epoch, d.cfg.Epoch)
	}
	if at != s.acked && len(s.queue) > 0 && at == s.queue[0].To {
		s.pop()
	}
	if at != s.acked {
		return nil, fault.Newf(fault.Stale, op, "slave %s is at %s and was expected at %s: register again", slave, at, s.acked)
	}
	if len(s.queue) == 0 {
		return nil, nil
	}
	return &s.queue[0], nil
}

// Bound limits the size of a slave's buckets, in bytes. Buckets that are ready already
// do not change, and a single item may still be larger.
func (d *Distributor[P]) Bound(slave string, bytes int) {
	if s, ok := d.streams[slave]; ok && bytes > 0 {
		s.most = bytes
	}
}

// bucketBytes returns the size that a bucket for s should have.
func (d *Distributor[P]) bucketBytes(s *stream[P]) int {
	if s.most > 0 {
		return min(s.most, d.cfg.BucketBytes)
	}
	return d.cfg.BucketBytes
}

// Model returns the model after the quanta processed so far, or nil before the first
// plan.
func (d *Distributor[P]) Model() *balance.Model { return d.model }

// Where returns the last position that a slave has acknowledged; the second result is
// false if the slave is not registered.
func (d *Distributor[P]) Where(slave string) (balance.Position, bool) {
	s, ok := d.streams[slave]
	if !ok {
		return balance.Position{}, false
	}
	return s.acked, true
}

// QueuedBytes returns the total size of the buckets that are ready for a slave.
func (d *Distributor[P]) QueuedBytes(slave string) int {
	if s, ok := d.streams[slave]; ok {
		return s.bytes
	}
	return 0
}

// Forget drops a slave that another distributor now serves, with its buckets.
func (d *Distributor[P]) Forget(slave string) {
	delete(d.streams, slave)
	d.order = slices.DeleteFunc(d.order, func(n string) bool { return n == slave })
}

// Made returns a number that changes whenever there may be a bucket for a waiting
// slave, or changes have begun to be deferred.
func (d *Distributor[P]) Made() uint64 { return d.made }

// Names returns the registered slaves in the order of their first registration.
func (d *Distributor[P]) Names() []string { return slices.Clone(d.order) }

package balance

import (
	"fmt"
	"time"

	"adshard/fault"
)

// MapperConfig configures a Mapper. Times are since any fixed moment.
type MapperConfig struct {
	Epoch uint64
	Order Order
	// Nodes is how many nodes must have joined before the first plan.
	Nodes    int
	Strategy Strategy
	// Limits are by the node's name.
	Limits map[string]Limit
	// Pace is the least time between two quanta, Beat the most: so long a
	// change may wait. Interval is the time between two iterations of the
	// strategy; 0: none.
	Pace, Beat, Interval time.Duration
}

// The defaults of MapperConfig.
const (
	DefaultPace     = 10 * time.Millisecond
	DefaultBeat     = 200 * time.Millisecond
	DefaultInterval = 10 * time.Minute
	// retryPlan is how long the mapper waits after a plan that failed.
	retryPlan = time.Second
)

// Mapper keeps the model and issues quanta (thesis 6.3.3). Every call may
// leave something to do in Out.
type Mapper struct {
	cfg    MapperConfig
	items  *Index
	clock  uint64
	loaded bool

	model   *Model // as announced; nil before the first plan
	number  uint64 // of the newest quantum
	last    time.Duration
	stamped uint64  // clock of the newest quantum
	staged  *staged // waits to be saved
	saves   uint64

	joined  []Joining // waiting for the first plan, or for their place in the model
	iterate time.Duration
	retry   time.Duration
	report  Report
	out     MapperOut
}

// staged is a change of the model that waits for its state to be durable.
type staged struct {
	seq   uint64
	model *Model
	ops   []Op // nil: the quantum carries the whole model
}

// MapperOut is what a mapper wants done, in this order.
type MapperOut struct {
	// Save, when set, is to be made durable; then Saved is called with Seq.
	Save *SaveState
	// Quanta go to all distributors.
	Quanta []Quantum
	// Troubles are for people: the mapper goes on.
	Troubles []error
}

// SaveState is a state that must be durable before the mapper goes on.
type SaveState struct {
	Seq   uint64
	Bytes []byte
}

// Report is what the strategy last said.
type Report struct {
	Strategy string
	Proposal Proposal
	// Adopted: the nodes' own tables made the first model.
	Adopted bool
}

// NewMapper starts a mapper. items is filled by the caller before Loaded, kept
// by the mapper afterwards, and may be read by distributors in between calls.
// state is what an earlier mapper had saved; nil: there was none. Errors are
// those of DecodeState.
func NewMapper(cfg MapperConfig, items *Index, state []byte) (*Mapper, error) {
	m := &Mapper{cfg: cfg, items: items, report: Report{Strategy: cfg.Strategy.Name()}}
	if state == nil {
		return m, nil
	}
	s, err := DecodeState(state)
	if err != nil {
		return nil, err
	}
	m.model, m.number = s.Model, s.Quantum
	return m, nil
}

// Loaded says that the index holds all items as of clock (burst start, thesis
// 6.3.12). A mapper with a saved model announces it now.
func (m *Mapper) Loaded(now time.Duration, clock uint64) {
	m.loaded, m.clock = true, clock
	m.iterate = now + m.cfg.Interval
	if m.model != nil {
		m.emit(now, Quantum{Model: m.model})
	}
	m.step(now)
}

// Join says that a node has announced itself, again or for the first time.
func (m *Mapper) Join(now time.Duration, j Joining) error {
	if err := j.Table.check(); err != nil {
		return fault.New(fault.Invalid, "balance: join", err)
	}
	if j.Name == "" {
		return fault.Field("balance: join", "name", "a node needs a name")
	}
	for i := range m.joined {
		if m.joined[i].Name == j.Name {
			m.joined[i] = j
			m.step(now)
			return nil
		}
	}
	m.joined = append(m.joined, j)
	m.step(now)
	return nil
}

// Changes takes changes of items and parents, by rising clock, each above the
// last.
func (m *Mapper) Changes(now time.Duration, list []Change) {
	for _, c := range list {
		m.clock = c.Clock
		switch _, known := m.items.Get(c.Key); {
		case c.Key == 0:
		case c.Removed:
			m.items.Delete(c.Key)
		case !known:
			m.items.Put(c.Key, 1) // until it is built and weighed
		}
	}
	m.step(now)
}

// Weigh tells the weight of an item; unknown items are ignored.
func (m *Mapper) Weigh(k Key, weight uint32) {
	if _, known := m.items.Get(k); known {
		m.items.Put(k, weight)
	}
}

// Tick says what time it is.
func (m *Mapper) Tick(now time.Duration) { m.step(now) }

// Saved says that the state with this number is durable: its quantum goes out.
func (m *Mapper) Saved(now time.Duration, seq uint64) {
	s := m.staged
	if s == nil || s.seq != seq {
		return
	}
	m.staged, m.model = nil, s.model
	if s.ops == nil {
		m.emit(now, Quantum{Model: s.model})
	} else {
		m.emit(now, Quantum{Ops: s.ops})
	}
	m.step(now)
}

// Out takes what there is to do; it is empty the next time.
func (m *Mapper) Out() MapperOut {
	out := m.out
	m.out = MapperOut{}
	return out
}

// Next returns when Tick has something to do at the latest.
func (m *Mapper) Next() time.Duration {
	if m.model == nil || !m.loaded {
		return m.last + m.cfg.Beat
	}
	if m.clock > m.stamped {
		return m.last + m.cfg.Pace
	}
	return m.last + m.cfg.Beat
}

// Model returns the model as announced; nil before the first plan.
func (m *Mapper) Model() *Model { return m.model }

// Clock returns the clock of the newest change seen.
func (m *Mapper) Clock() uint64 { return m.clock }

// Items returns the known items; not to be read while the mapper is called.
func (m *Mapper) Items() Items { return m.items }

// Limits returns what the nodes of the model can take.
func (m *Mapper) Limits() map[NodeID]Limit { return m.limits(m.model) }

// Report returns what the strategy last said.
func (m *Mapper) Report() Report { return m.report }

// Waiting says what the mapper waits for before the first plan; "" after it.
func (m *Mapper) Waiting() string {
	switch {
	case m.model != nil:
		return ""
	case !m.loaded:
		return "the items are being loaded"
	case m.staged != nil:
		return "the plan is being saved"
	case len(m.joined) < m.cfg.Nodes:
		return fmt.Sprintf("%d of %d slaves have joined", len(m.joined), m.cfg.Nodes)
	}
	return "the plan failed and will be tried again"
}

// step does what is due.
func (m *Mapper) step(now time.Duration) {
	if !m.loaded {
		return
	}
	if m.staged == nil && now >= m.retry {
		if err := m.change(now); err != nil {
			m.out.Troubles = append(m.out.Troubles, err)
			m.retry = now + retryPlan
		}
	}
	if m.model == nil {
		m.last = now
		return
	}
	if m.clock > m.stamped && now >= m.last+m.cfg.Pace || now >= m.last+m.cfg.Beat {
		m.emit(now, Quantum{})
	}
}

// emit stamps a quantum and sends it.
func (m *Mapper) emit(now time.Duration, q Quantum) {
	m.number++
	q.Epoch, q.Number, q.Clock, q.View = m.cfg.Epoch, m.number, m.clock, m.model.View()
	m.last, m.stamped = now, m.clock
	m.out.Quanta = append(m.out.Quanta, q)
}

// stage asks for a new model to be made durable; Saved sends it.
func (m *Mapper) stage(model *Model, ops []Op) {
	m.saves++
	m.staged = &staged{seq: m.saves, model: model, ops: ops}
	state := State{Quantum: m.number, Model: model}
	m.out.Save = &SaveState{Seq: m.saves, Bytes: state.Encode()}
}

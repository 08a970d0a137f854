package balance

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"adshard/fault"
)

// State is the state that must survive a restart of the balancer. It is made durable before any of it is sent.
type State struct {
	// Quantum is the number of the newest quantum when the state was saved. The quanta of the next epoch are numbered
	// from there.
	Quantum uint64
	// Replicas is the number of slaves that hold each slice. Configured is the number in the balancer's configuration
	// when Replicas was decided. Both are 0 if unknown.
	Replicas, Configured int
	Model                *Model
	// Memories has the memories of strategies, in ascending order of names.
	Memories []StrategyMemory
}

// stateFormat is the first byte of an encoded state. Format 5 is the same but has no memories of strategies; older
// programs wrote it for states without memories.
const stateFormat, withoutMemories = 6, 5

// Encode returns the state as bytes: the format, then unsigned varints, then xxh64 of all bytes before, in little
// endian. A string has its length before it. A slice has its width less one, since slices tile the ring. The
// shards and views of a move follow only if there is one.
func (s State) Encode() []byte {
	m := s.Model
	b := make([]byte, 0, 64+16*len(m.slices)+48*len(m.shards))
	b = append(b, stateFormat)
	put := func(v uint64) { b = binary.AppendUvarint(b, v) }
	text := func(v string) { put(uint64(len(v))); b = append(b, v...) }
	put(s.Quantum)
	put(uint64(s.Replicas))
	put(uint64(s.Configured))
	put(m.view)
	put(m.least)
	put(flag(m.filled))
	put(m.nextSlice)
	put(uint64(m.nextShard))
	put(uint64(len(m.shards)))
	for _, sh := range m.shards {
		put(uint64(sh.ID))
		text(sh.Name)
		put(uint64(sh.State))
	}
	put(m.revision)
	put(uint64(len(m.slaves)))
	for _, s := range m.slaves {
		text(s.Name)
		text(s.Address)
		text(s.Zone)
		put(uint64(s.Shard))
		put(s.Left)
		put(s.Instance)
		put(flag(s.In) | flag(s.Drained)<<1)
	}
	put(uint64(len(m.slices)))
	for _, v := range m.slices {
		put(v.ID)
		put(uint64(v.Hi - v.Lo))
		put(v.Generation)
		put(uint64(v.Shard))
		put(v.From)
		put(uint64(v.Move.Phase))
		if v.Move.Phase != NoMove {
			put(uint64(v.Move.Other))
			put(v.Move.OtherFrom)
		}
	}
	put(uint64(len(s.Memories)))
	for _, v := range s.Memories {
		text(v.Strategy)
		put(flag(v.InUse))
		text(string(v.Bytes))
	}
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

// WithoutMoves returns the state with all moves cancelled that were not switched yet.
func (s State) WithoutMoves() (State, error) {
	e := s.Model.Edit()
	for _, v := range s.Model.slices {
		if v.Move.Phase == Copying {
			if err := e.Cancel(v.ID); err != nil {
				return State{}, err
			}
		}
	}
	m, err := e.Model()
	s.Model = m
	return s, err
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// DecodeState decodes what Encode returned. Errors: fault.Version if the bytes have another format, fault.Corrupt if
// they are damaged.
func DecodeState(b []byte) (State, error) {
	const op = "balance: read state"
	if len(b) < 9 {
		return State{}, fault.Newf(fault.Corrupt, op, "the balancer's state has only %d bytes", len(b))
	}
	if b[0] != stateFormat && b[0] != withoutMemories {
		return State{}, fault.Newf(fault.Version, op, "the balancer's state has format %d, this program reads %d and %d: use the program that wrote it",
			b[0], withoutMemories, stateFormat)
	}
	body, sum := b[:len(b)-8], binary.LittleEndian.Uint64(b[len(b)-8:])
	if xxhash.Sum64(body) != sum {
		return State{}, fault.Newf(fault.Corrupt, op, "the balancer's state has a wrong checksum")
	}
	r := reader{b: body[1:]}
	s := State{Quantum: r.uint()}
	s.Replicas, s.Configured = r.replicas(), r.replicas()
	s.Model = r.model()
	if b[0] != withoutMemories {
		s.Memories = r.memories()
	}
	if r.bad || len(r.b) != 0 {
		return State{}, fault.Newf(fault.Corrupt, op, "the balancer's state is truncated or too long")
	}
	if err := s.Model.check(); err != nil {
		return State{}, fault.New(fault.Corrupt, op, err)
	}
	return s, nil
}

// reader reads varints from a slice of bytes; bad is set if there are too few bytes or a value is not valid.
type reader struct {
	b   []byte
	bad bool
}

// flag reads a boolean.
func (r *reader) flag() bool {
	v := r.uint()
	r.bad = r.bad || v > 1
	return v == 1
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) text() string {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.bad = true
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

// small reads a number that must fit into a byte.
func (r *reader) small() uint8 {
	v := r.uint()
	r.bad = r.bad || v > 255
	return uint8(v)
}

// shard reads a shard's number.
func (r *reader) shard() ShardID {
	v := r.uint()
	r.bad = r.bad || v > 1<<31-1
	return ShardID(v)
}

// replicas reads a number of replicas.
func (r *reader) replicas() int {
	v := r.uint()
	r.bad = r.bad || v > MaxReplicas
	return int(v)
}

// slaves reads the slaves.
func (r *reader) slaves(m *Model) {
	m.revision = r.uint()
	for n := r.uint(); n > 0 && !r.bad; n-- {
		s := Slave{Name: r.text(), Site: Site{Address: r.text(), Zone: r.text()}, Shard: r.shard(), Left: r.uint()}
		s.Instance = r.uint()
		flags := r.uint()
		r.bad = r.bad || flags > 3
		s.In, s.Drained = flags&1 != 0, flags&2 != 0
		m.slaves = append(m.slaves, s)
	}
}

// memories reads the memories of strategies.
func (r *reader) memories() (list []StrategyMemory) {
	for n := r.uint(); n > 0 && !r.bad; n-- {
		m := StrategyMemory{Strategy: r.text(), InUse: r.flag(), Bytes: []byte(r.text())}
		r.bad = r.bad || len(m.Bytes) > MaxMemory
		list = append(list, m)
	}
	return list
}

func (r *reader) model() *Model {
	m := &Model{view: r.uint(), least: r.uint(), filled: r.flag(), nextSlice: r.uint(), nextShard: r.shard()}
	for n := r.uint(); n > 0 && !r.bad; n-- {
		m.shards = append(m.shards, Shard{ID: r.shard(), Name: r.text(), State: ShardState(r.small())})
	}
	r.slaves(m)
	slices.SortFunc(m.slaves, func(a, b Slave) int { return strings.Compare(a.Name, b.Name) })
	lo := Key(0)
	for n := r.uint(); n > 0 && !r.bad; n-- {
		s := Slice{ID: r.uint(), Lo: lo}
		s.Hi = lo + Key(r.uint())
		s.Generation, s.Shard, s.From = r.uint(), r.shard(), r.uint()
		if s.Move.Phase = MovePhase(r.small()); s.Move.Phase != NoMove {
			s.Move.Other, s.Move.OtherFrom = r.shard(), r.uint()
		}
		lo = s.Hi + 1
		m.slices = append(m.slices, s)
	}
	return m
}

// StrategyMemory is the saved memory of a strategy.
type StrategyMemory struct {
	Strategy string
	// InUse is set for the strategy in use. The other strategies run in shadow.
	InUse bool
	Bytes []byte
}

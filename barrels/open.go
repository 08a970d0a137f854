package barrels

import (
	"context"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"adshard/barrels/kv"
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
)

// FormatVersion is the version of all keys and values of a store.
const FormatVersion = 2

// store is the Store on any kv.DB.
type store struct {
	name string // the slave's
	kv   kv.DB
	published
	behind    atomic.Bool // not caught up
	badBlocks atomic.Uint64
	loads     *loads
	lists     lists
	groups    *cache[*groupItems]
	shown     *shownCache
	damaged   atomic.Pointer[func(Damage)]

	mu     sync.Mutex // one writer at a time; guards what follows
	writer *writer
	closed bool
	upkeep upkeep
	// compacting is held while the DB is compacted; endCompact ends that.
	compacting sync.Mutex
	endCompact context.CancelFunc
	// numbers is that of the last state before the DB was opened again.
	numbers uint64
}

// Options configure a store.
type Options struct {
	// Name is the slave's: the store answers searches for the shard of this name
	// only. Empty: it answers all.
	Name string
	// CacheBytes is what may be kept of blocks and groups as searches use them,
	// beside what kv itself caches; 0: nothing.
	CacheBytes uint64
}

// Open opens the store that kv holds, or makes an empty one where kv is empty.
// The store owns kv from then on; on an error kv is left open. Errors:
// fault.Version when it was written by another version of the format or of the
// words, fault.Corrupt when it is damaged.
func Open(kv kv.DB, o Options) (Store, error) {
	begin, err := first(kv, 0, o.Name)
	if err != nil {
		return nil, err
	}
	st := &store{
		name: o.Name, kv: kv, upkeep: upkeep{changed: unknown}, loads: newLoads(),
		groups: newCache[*groupItems](o.CacheBytes / 4), shown: newShownCache(o.CacheBytes / 8),
	}
	st.writer = newWriter(&st.lists)
	st.lists.limit = int64(min(o.CacheBytes/8*5, 1<<40))
	st.publish(begin)
	return st, nil
}

// first reads the first state of a DB that was opened; it gets its versions if
// it is empty.
func first(kv kv.DB, number uint64, name string) (*state, error) {
	s := kv.Snapshot()
	fresh, err := checkVersions(s)
	if err == nil && fresh {
		s.Close()
		if err := writeVersions(kv); err != nil {
			return nil, err
		}
		s = kv.Snapshot()
	}
	var st *state
	if err == nil {
		st, err = load(s, number, name)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return st, nil
}

// checkVersions compares the versions stored; fresh: there is nothing at all.
func checkVersions(s kv.Snapshot) (fresh bool, err error) {
	format, ok, err := s.Get(kv.Meta, kv.MetaFormat, nil)
	if err != nil {
		return false, err
	}
	if !ok {
		return true, checkEmpty(s)
	}
	if len(format) != 4 {
		return false, fault.Newf(fault.Corrupt, "barrels: open", "the store's format version is damaged; %s", kv.Refill)
	}
	if v := binary.LittleEndian.Uint32(format); v != FormatVersion {
		return false, fault.Newf(fault.Version, "barrels: open",
			"the store has format version %d, this program reads %d; %s", v, FormatVersion, kv.Refill)
	}
	stored, _, err := s.Get(kv.Meta, kv.MetaWords, nil)
	if err != nil {
		return false, err
	}
	if v := words.Version(); string(stored) != v {
		return false, fault.Newf(fault.Version, "barrels: open",
			"the store's words are of version %q, this program's of %q: it would miss keywords; %s", stored, v, kv.Refill)
	}
	return false, nil
}

// checkEmpty fails when there are data without a version.
func checkEmpty(s kv.Snapshot) error {
	for f := range kv.Family(kv.Families) {
		it := s.Full(f)
		found := it.Seek(nil)
		err := it.Err()
		it.Close()
		if err != nil {
			return err
		}
		if found {
			return fault.Newf(fault.Corrupt, "barrels: open", "data in %s, but no format version; %s", f, kv.Refill)
		}
	}
	return nil
}

func writeVersions(db kv.DB) error {
	var b kv.Batch
	putVersions(&b)
	return db.Write(&b)
}

func putVersions(b *kv.Batch) {
	b.Put(kv.Meta, kv.MetaFormat, binary.LittleEndian.AppendUint32(nil, FormatVersion))
	b.Put(kv.Meta, kv.MetaWords, []byte(words.Version()))
}

// load reads the first state of an opened store.
func load(s kv.Snapshot, number uint64, name string) (*state, error) {
	st, table := &state{number: number, snapshot: share(s), position: new(pb.Position)}, new(pb.SliceTable)
	if err := readMessage(s, kv.MetaPosition, st.position); err != nil {
		return nil, err
	}
	if err := readMessage(s, kv.MetaSlices, table); err != nil {
		return nil, err
	}
	if err := checkSlices(table); err != nil {
		return nil, kv.Damaged("slice table", err)
	}
	_, strays, err := s.Get(kv.Meta, kv.MetaStrays, nil)
	if err != nil {
		return nil, err
	}
	st.views = newViews(name, number, table, strays)
	raw, ok, err := s.Get(kv.Meta, kv.MetaCounters, nil)
	if err != nil {
		return nil, err
	}
	if ok {
		if st.counters, ok = parseCounters(raw); !ok {
			return nil, kv.Damaged("counters", kv.ErrWrongSize)
		}
	}
	if err := readRepair(s, st); err != nil {
		return nil, err
	}
	var g errgroup.Group
	g.Go(func() (err error) {
		st.parents, err = loadParents(s)
		return err
	})
	g.Go(func() (err error) {
		st.terms, err = loadTerms(s, int(st.counters.terms))
		return err
	})
	return st, g.Wait()
}

// readRepair reads who built the data and what is still to be purged.
func readRepair(s kv.Snapshot, st *state) error {
	raw, ok, err := s.Get(kv.Meta, kv.MetaBuilder, nil)
	if err != nil {
		return err
	}
	switch {
	case st.counters == (counters{}) && !ok:
		st.builder = AnyBuilder
	case !ok: // written before data said it
		st.builder = firstBuilder
	default:
		if len(raw) != 4 {
			return kv.Damaged("builder", kv.ErrWrongSize)
		}
		st.builder = binary.LittleEndian.Uint32(raw)
	}
	if raw, _, err = s.Get(kv.Meta, kv.MetaPurge, nil); err != nil {
		return err
	}
	if st.purge, ok = parseRuns(raw); !ok {
		return kv.Damaged("purge", kv.ErrWrongSize)
	}
	return nil
}

func readMessage(s kv.Snapshot, key []byte, m proto.Message) error {
	raw, _, err := s.Get(kv.Meta, key, nil)
	if err != nil {
		return err
	}
	if err := proto.Unmarshal(raw, m); err != nil {
		return kv.Damaged(string(key), err)
	}
	return nil
}

func loadTerms(s kv.Snapshot, expected int) (*termTable, error) {
	t := newTermTable(max(0, min(expected, 1<<28)))
	it := s.Full(kv.Terms)
	defer it.Close()
	for ok := it.Seek(nil); ok; ok = it.Next() {
		c, good := parseTermCount(it.Value())
		if !good || len(it.Key()) != 8 {
			return nil, kv.Damaged("term", kv.ErrWrongSize)
		}
		t = t.set(kv.KeyPart(it.Key(), 0), c)
	}
	return t, it.Err()
}

// Position implements Store.
func (s *store) Position() *pb.Position {
	st := s.acquire()
	if st == nil {
		return new(pb.Position)
	}
	defer st.release()
	return proto.CloneOf(st.position)
}

// Slices implements Store.
func (s *store) Slices() *pb.SliceTable {
	st := s.acquire()
	if st == nil {
		return new(pb.SliceTable)
	}
	defer st.release()
	return proto.CloneOf(st.views.table)
}

// SetCaughtUp implements Store.
func (s *store) SetCaughtUp(yes bool) { s.behind.Store(!yes) }

// Stats implements Store.
func (s *store) Stats() Stats {
	st := s.acquire()
	if st == nil {
		return Stats{}
	}
	defer st.release()
	c := st.counters
	return Stats{
		Groups: uint64(c.groups), Keywords: uint64(c.keywords), Postings: uint64(c.postings),
		Blocks: uint64(c.blocks), Terms: uint64(c.terms),
		Campaigns: uint64(st.parents.campaigns.size), Advertisers: uint64(st.parents.advertisers.size),
		DiskBytes: s.kv.DiskBytes(), BadBlocks: s.badBlocks.Load(),
	}
}

// Close implements Store: it waits for the searches under way, then closes the
// DB. Calls after it fail with fault.Unavailable.
func (s *store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.stopCompact()
	s.publish(nil)
	s.open.Wait()
	return s.kv.Close()
}

func (s *store) errClosed(op string) error {
	return fault.Newf(fault.Unavailable, op, "the store is closed")
}

// reopen opens a DB again whose write has failed, once there is room. Until
// then searches go on with the last state; while it is done they wait.
func (s *store) reopen() error {
	if !s.kv.Failed() {
		return nil
	}
	if err := s.kv.Ready(); err != nil {
		return err
	}
	return s.again(s.kv.Reopen)
}

// again closes all states, has the DB opened in some way, and reads the first
// state from it. The caller has mu.
func (s *store) again(open func() error) error {
	s.stopCompact()
	s.reopening.Lock()
	defer s.reopening.Unlock()
	if old := s.newest.Load(); old != nil {
		s.numbers = old.number
	}
	s.publish(nil)
	s.open.Wait()
	if err := open(); err != nil {
		return err
	}
	st, err := first(s.kv, s.numbers+1, s.name)
	if err != nil {
		return err
	}
	s.lists.recount(st.terms)
	s.groups.noteAll(st.number)
	s.publish(st)
	return nil
}

// ended turns the end of a context into an error of its kind.
func ended(ctx context.Context, op string) error {
	err := context.Cause(ctx)
	if ctx.Err() == context.DeadlineExceeded {
		return fault.New(fault.Deadline, op, err)
	}
	return fault.New(fault.Cancelled, op, err)
}

var _ search.Searcher = (*store)(nil)

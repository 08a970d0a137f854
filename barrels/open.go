package barrels

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/load"
	"adshard/barrels/query"
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

// barrel is the Store on top of any kv.DB.
type barrel struct {
	name      string // of the slave
	languages words.Languages
	kv        kv.DB
	index.Published
	behind    atomic.Bool // not caught up
	badBlocks atomic.Uint64
	searches  atomic.Uint64         // number of searches begun; bulk work watches it
	unwarmed  atomic.Uint64         // number of the last state with groups that may not be cached: new ones, or all
	warmed    atomic.Uint64         // number of the state in which Warm began when it last came to the end of the groups
	pace      atomic.Pointer[pacer] // for the next certificate; nil if one is being computed or none has been yet
	engine    query.Engine
	damaged   atomic.Pointer[func(Damage)]

	mu     sync.Mutex // held by the one writer; guards the fields below
	writer *batchWriter
	closed bool
	upkeep upkeep
	// compacting is held while the DB is compacted. endCompact ends the compaction.
	compacting sync.Mutex
	endCompact context.CancelFunc
	// room is the budget of all caches that was set when the terms took termBytes.
	room, termBytes uint64
	budget          *index.Budget
	// numbers is the number of the last state before the DB was opened again.
	numbers uint64
}

// Options configure a store.
type Options struct {
	// Name is the slave's name: the store only answers searches for the shard of this name. If it
	// is empty, the store answers all searches.
	Name string
	// CacheBytes bounds memory other than the database's own: terms and parents, which are always
	// loaded, and with the rest the caches, which share it by demand (index.Budget). If it is 0,
	// nothing is cached.
	CacheBytes uint64
	// Languages are those whose words have stems. A store of others cannot be opened.
	Languages words.Languages
	// Scorers finds the scorers that requests name. If it is nil, there are none.
	Scorers query.Scorers
}

// Open opens the store in a database, or makes an empty store if the database is empty. It takes
// over the database: the store's Close closes it, and so does Open if it fails. Errors:
// fault.Version if another version of the format or of the words wrote the store, fault.Corrupt if
// it is damaged.
func Open(db kv.DB, o Options) (Store, error) {
	begin, err := first(db, 1, o.Name, o.Languages) // 0 is before all states
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	st := &barrel{name: o.Name, languages: o.Languages, kv: db, upkeep: upkeep{changed: unknown}}
	room := o.CacheBytes - min(o.CacheBytes, begin.Terms.Bytes()+begin.Parents.Bytes())
	st.room, st.termBytes, st.budget = room, begin.Terms.Bytes(), index.NewBudget(room)
	st.engine = caches(st.budget)
	st.engine.Load, st.engine.Scorers = load.NewCounter(), o.Scorers
	st.unwarmed.Store(begin.Number)
	st.writer = newBatchWriter(st.engine.Lists, &st.searches, o.Languages)
	st.Publish(begin)
	return st, nil
}

// caches returns an engine with caches that share a budget. What a miss costs is measured where the files are in the
// system's cache (docs/experiments/memory.md).
func caches(b *index.Budget) query.Engine {
	return query.Engine{
		Lists:   index.NewListCache(b.Allow(8, 100*time.Microsecond)),
		Groups:  index.NewCache[*index.Group](b.Allow(5, 6*time.Microsecond)),
		Display: query.NewDisplayCache(b.Allow(2, time.Microsecond)),
		Hosts:   index.NewHostSets(b.Allow(1, time.Microsecond)),
	}
}

// first reads the first state of a DB that was just opened. An empty DB gets this program's
// versions.
func first(kv kv.DB, number uint64, name string, languages words.Languages) (*index.Snapshot, error) {
	s := kv.Snapshot()
	fresh, err := index.CheckVersions(s, languages)
	if err == nil && fresh {
		s.Close()
		if err := index.WriteVersions(kv, languages); err != nil {
			return nil, err
		}
		s = kv.Snapshot()
	}
	var st *index.Snapshot
	if err == nil {
		st, err = index.Load(s, number, name)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return st, nil
}

// Position implements Store.
func (s *barrel) Position() *pb.Position {
	st := s.Acquire()
	if st == nil {
		return new(pb.Position)
	}
	defer st.Release()
	return proto.CloneOf(st.Position)
}

// Slices implements Store.
func (s *barrel) Slices() *pb.SliceTable {
	st := s.Acquire()
	if st == nil {
		return new(pb.SliceTable)
	}
	defer st.Release()
	return st.Slices.Table
}

// SetCaughtUp implements Store.
func (s *barrel) SetCaughtUp(yes bool) { s.behind.Store(!yes) }

// Unverified implements Store.
func (s *barrel) Unverified() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.closed && s.kv.Unverified()
}

// Verified implements Store.
func (s *barrel) Verified() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable("barrels: verified"); err != nil {
		return err
	}
	return s.kv.Verified()
}

// Stats implements Store.
func (s *barrel) Stats() Stats {
	st := s.Acquire()
	if st == nil {
		return Stats{}
	}
	defer st.Release()
	c := st.Counters
	return Stats{
		Groups: uint64(c.Groups), Keywords: uint64(c.Keywords), Postings: uint64(c.Postings),
		Blocks: uint64(c.Blocks), Terms: uint64(c.Terms),
		Campaigns: uint64(st.Parents.Campaigns.Len()), Advertisers: uint64(st.Parents.Advertisers.Len()),
		DiskBytes: s.kv.DiskBytes(), BadBlocks: s.badBlocks.Load(), Memory: s.memory(st), DB: s.kv.Statistics(),
	}
}

// memory returns the memory of the store with a state.
func (s *barrel) memory(st *index.Snapshot) Memory {
	return Memory{
		DB: s.kv.Memory(), Terms: st.Terms.Bytes(), Parents: st.Parents.Bytes(),
		Lists: s.engine.Lists.Bytes(), Groups: s.engine.Groups.Bytes(), Hosts: s.engine.Hosts.Bytes(),
	}
}

// termsReplaced accounts for a new table of terms. The caches must take less by as much as the
// new table takes more.
func (s *barrel) termsReplaced(t *index.Dictionary) {
	more := t.Bytes() - min(t.Bytes(), s.termBytes)
	s.engine.Lists.Recount(t)
	s.budget.Resize(s.room - min(s.room, more))
}

// Close implements Store. It waits for the searches under way, then closes the DB. Calls after it
// return fault.Unavailable.
func (s *barrel) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.stopCompact()
	s.Publish(nil)
	s.Unclosed.Wait()
	return s.kv.Close()
}

func (s *barrel) errClosed(op string) error {
	return fault.Newf(fault.Unavailable, op, "the store is closed")
}

// reopen opens a DB again after a failed write, once there is room. Until then searches use the
// last state. While the DB is being reopened they wait.
func (s *barrel) reopen() error {
	if !s.kv.Failed() {
		return nil
	}
	if err := s.kv.Ready(); err != nil {
		return err
	}
	return s.reopenWith(s.kv.Reopen)
}

// reopenWith closes all states, calls open, and reads the first state again. The caller has mu.
func (s *barrel) reopenWith(open func() error) error {
	s.stopCompact()
	s.Reopening.Lock()
	defer s.Reopening.Unlock()
	if old := s.Newest.Load(); old != nil {
		s.numbers = old.Number
	}
	s.Publish(nil)
	s.Unclosed.Wait()
	if err := open(); err != nil {
		return err
	}
	st, err := first(s.kv, s.numbers+1, s.name, s.languages)
	if err != nil {
		return err
	}
	s.termsReplaced(st.Terms)
	s.dropGroups(st.Number)
	s.Publish(st)
	return nil
}

var _ search.Searcher = (*barrel)(nil)

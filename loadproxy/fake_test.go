package loadproxy

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/barrels"
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search/words"
)

// store is a barrels.Store that only keeps keys.
type store struct {
	barrels.Store
	mu       sync.Mutex
	keys     []uint64 // in the order in which they were applied
	parts    []*pb.Keyword
	position *pb.Position
	slices   *pb.SliceTable
	caughtUp []bool  // each call of SetCaughtUp
	fail     []error // errors of the next calls of Apply
	writing  bool
	maintain func(context.Context) error
	queries  uint64 // since TakeLoad
	every    int    // one of this many searches is counted

	damage    func(barrels.Damage)
	discarded []*pb.Interval
	renewed   int
	stuck     error  // of Discard
	copied    func() // called by Reload; makes the store the copy
	unclean   bool   // the store was not closed, and has not been verified since
}

// TakeLoad returns a load with one query more than the call before.
func (s *store) TakeLoad() *pb.Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queries++
	return &pb.Load{Queries: s.queries}
}

func newStore() *store { return &store{position: &pb.Position{}, slices: &pb.SliceTable{}} }

func (s *store) OnDamage(report func(barrels.Damage)) { s.damage = report }
func (s *store) Unverified() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unclean
}

func (s *store) Verified() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unclean = false
	return nil
}

func (s *store) Present() error { return nil }
func (s *store) Purging() bool  { return false }

// Discard removes the slices from the table if they have any of the keys.
func (s *store) Discard(_ context.Context, list []*pb.Interval) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.stuck; err != nil {
		return err
	}
	t := proto.CloneOf(s.slices)
	for _, v := range list {
		t.Slices = slices.DeleteFunc(t.Slices, func(h *pb.HeldSlice) bool { return v.Lo <= h.Hi && h.Lo <= v.Hi })
	}
	s.slices = t
	s.discarded = append(s.discarded, list...)
	return nil
}

// repaired returns how many intervals were discarded, and how often the store was
// emptied.
func (s *store) repaired() (discarded, renewed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.discarded), s.renewed
}

// Renew empties the store.
func (s *store) Renew() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys, s.position, s.slices = nil, &pb.Position{}, &pb.SliceTable{}
	s.renewed++
	return nil
}

// Reload makes the store a copy.
func (s *store) Reload() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.copied()
	return nil
}

func (s *store) CountLoad(every int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.every = every
}

func (s *store) Apply(ctx context.Context, d *pb.NodeData) error { return s.ApplyParts(ctx, d, nil) }

func (s *store) ApplyParts(_ context.Context, d *pb.NodeData, parts barrels.Parts) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writing {
		panic("two writers")
	}
	if len(s.fail) > 0 {
		err := s.fail[0]
		s.fail = s.fail[1:]
		if err != nil {
			return err
		}
	}
	switch {
	case d.GetReset_():
		s.keys = nil
	case !proto.Equal(d.GetFrom(), s.position):
		return fault.Newf(fault.Stale, "store: apply", "the bucket begins at %v, the store is at %v", d.GetFrom(), s.position)
	}
	for _, i := range d.GetItems() {
		s.keys = append(s.keys, i.GetGroup().GetKey())
		for part := range i.GetParts() {
			list, err := parts(i, part)
			if err != nil {
				return err
			}
			s.parts = append(s.parts, list...)
		}
	}
	s.position = d.GetTo()
	if d.GetSlices() != nil {
		s.slices = d.GetSlices()
	}
	return nil
}

func (s *store) Certify(context.Context, uint64, uint64, uint64, []barrels.Parent) (*barrels.Certificate, error) {
	return &barrels.Certificate{}, nil
}

func (s *store) Maintain(ctx context.Context) error {
	s.mu.Lock()
	s.writing = true
	f := s.maintain
	s.mu.Unlock()
	defer func() { s.mu.Lock(); s.writing = false; s.mu.Unlock() }()
	if f == nil {
		return nil
	}
	return f(ctx)
}

func (s *store) Position() *pb.Position { s.mu.Lock(); defer s.mu.Unlock(); return s.position }
func (s *store) Slices() *pb.SliceTable { s.mu.Lock(); defer s.mu.Unlock(); return s.slices }
func (s *store) Stats() barrels.Stats   { return barrels.Stats{Groups: 1} }
func (s *store) SetCaughtUp(b bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caughtUp = append(s.caughtUp, b)
}

func (s *store) serving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caughtUp[len(s.caughtUp)-1]
}

func (s *store) applied() []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]uint64(nil), s.keys...)
}

// fakeBalancer is a balancer and its distributors. Each bucket has one key: the key k,
// from clock k−1 to k, up to head.
type fakeBalancer struct {
	mu         sync.Mutex
	epoch      uint64
	head       uint64
	grown      chan struct{} // closed when head rises
	away       bool
	registered []*pb.RegisterRequest
	enlisted   []string // addresses of distributors
	pulls      []*pb.PullRequest
	reports    []*pb.ReportRequest
	home       string         // the slave's distributor
	homeless   bool           // the distributors are away, but not the balancer
	slices     *pb.SliceTable // goes with the next bucket
	slow       time.Duration  // how long a report takes
	refill     bool
	refuse     error
	lose       int    // number of answers of Pull that are lost
	loseParts  int    // number of answers of Part that are lost
	parts      uint32 // of each item
	database   string // the database that it plans for
	hands      string // the database whose data its distributor hands out
	words      string // the version of the words in buckets
	discard    bool
	verify     bool            // the next Enlist asks for a comparison
	comparing  time.Duration   // how long it takes to compare a slice
	differ     map[uint64]bool // keys that differ from the database's
	most       uint64          // number of keys that can be compared in time; 0 for all
	order      *pb.CopyOrder   // the copy that the slave is to make
	recheck    *pb.Recheck     // what it says about an unverified store
}

var errAway = fault.New(fault.Unavailable, "balancer", errors.New("nobody there"))

func newBalancer(head uint64) *fakeBalancer {
	return &fakeBalancer{epoch: 1, head: head, words: words.Version(), grown: make(chan struct{})}
}

func (b *fakeBalancer) Register(_ context.Context, r *pb.RegisterRequest) (*pb.RegisterResponse, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away {
		return nil, errAway
	}
	if b.refuse != nil {
		return nil, b.refuse
	}
	b.registered = append(b.registered, proto.CloneOf(r))
	if r.GetCopied() != nil {
		b.order = nil // the copy has replaced what was missing
	}
	return &pb.RegisterResponse{Epoch: b.epoch, Distributor: b.home, Database: b.database, Discard: b.discard, Copy: b.order, Recheck: b.rechecks(r.GetUnverified())}, nil
}

func (b *fakeBalancer) Report(_ context.Context, r *pb.ReportRequest) (*pb.ReportResponse, error) {
	b.mu.Lock()
	slow := b.slow
	b.mu.Unlock()
	time.Sleep(slow)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away {
		return nil, errAway
	}
	b.reports = append(b.reports, r)
	if r.GetEpoch() != b.epoch {
		return nil, fault.Newf(fault.Stale, "balancer: report", "epoch %d, now %d", r.GetEpoch(), b.epoch)
	}
	return &pb.ReportResponse{Epoch: b.epoch, Distributor: b.home, Copy: b.order, Recheck: b.rechecks(r.GetUnverified())}, nil
}

// rechecks returns the progress that is sent to a slave. The caller holds mu.
func (b *fakeBalancer) rechecks(unverified bool) *pb.Recheck {
	if !unverified || b.recheck == nil {
		return nil
	}
	return proto.CloneOf(b.recheck)
}

// Part implements Distributor. Each part has one keyword, whose id is one more than the
// part's number.
func (d fakeDistributor) Part(_ context.Context, r *pb.PartRequest) (*pb.PartResponse, error) {
	b := d.fakeBalancer
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away || b.loseParts > 0 {
		b.loseParts--
		return nil, errAway
	}
	if r.GetVersion() != r.GetPosition().GetClock()+1 || r.GetName() == "" {
		return nil, fault.Newf(fault.Stale, "distributor: part", "no such bucket: %v", r)
	}
	return &pb.PartResponse{Keywords: []*pb.Keyword{{Id: uint64(r.GetPart()) + 1}}}, nil
}

func (b *fakeBalancer) Distributor(address string) (Distributor, func() error, error) {
	return fakeDistributor{b, address}, func() error { return nil }, nil
}

// fakeDistributor is the distributor at an address. If it is the balancer's own, it is
// away whenever the balancer is.
type fakeDistributor struct {
	*fakeBalancer
	address string
}

// gone reports whether there is no answer. The caller holds mu.
func (d fakeDistributor) gone() bool {
	return d.homeless || d.address != d.home || d.away && d.address == ""
}

func (d fakeDistributor) Enlist(_ context.Context, r *pb.RegisterRequest) (*pb.EnlistResponse, error) {
	b := d.fakeBalancer
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.gone() {
		return nil, errAway
	}
	b.enlisted = append(b.enlisted, d.address)
	verify := b.verify
	b.verify = false
	return &pb.EnlistResponse{Epoch: b.epoch, CatchUp: &pb.Position{Epoch: b.epoch, Clock: b.head}, Refill: b.refill,
		Database: b.hands, Verify: verify}, nil
}

// Verify compares keys with differ.
func (d fakeDistributor) Verify(_ context.Context, r *pb.VerifyRequest) (*pb.VerifyResponse, error) {
	b := d.fakeBalancer
	b.mu.Lock()
	comparing := b.comparing
	b.mu.Unlock()
	time.Sleep(comparing)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.most > 0 && r.GetHi()-r.GetLo() >= b.most {
		return nil, fault.Newf(fault.Deadline, "distributor: verify", "more than %d keys", b.most)
	}
	equal := true
	for key := range b.differ {
		equal = equal && (key < r.GetLo() || key > r.GetHi())
	}
	return &pb.VerifyResponse{Equal: equal}, nil
}

func (d fakeDistributor) Pull(ctx context.Context, r *pb.PullRequest) (*pb.PullResponse, error) {
	b := d.fakeBalancer
	for {
		b.mu.Lock()
		b.pulls = append(b.pulls, r)
		away, epoch, head, grown, version := d.gone(), b.epoch, b.head, b.grown, b.words
		lost := b.lose > 0
		if lost {
			b.lose--
		}
		b.mu.Unlock()
		switch at := r.GetPosition(); {
		case away || lost:
			return nil, errAway
		case r.GetEpoch() != epoch:
			return nil, fault.Newf(fault.Stale, "balancer: pull", "epoch %d, now %d", r.GetEpoch(), epoch)
		case at.GetClock() < head:
			to := &pb.Position{Epoch: epoch, Clock: at.GetClock() + 1}
			return &pb.PullResponse{Data: &pb.NodeData{From: at, To: to, Reset_: at.GetClock() == 0, Slices: b.table(), Database: b.hands, Words: version,
				Items: []*pb.Item{{Group: &pb.Group{Key: to.Clock, Version: to.Clock}, Parts: b.parts}}}}, nil
		}
		select {
		case <-ctx.Done():
			return nil, fault.New(fault.KindOf(ctx.Err()), "balancer: pull", ctx.Err())
		case <-time.After(time.Duration(r.GetWaitMs()) * time.Millisecond):
			return &pb.PullResponse{}, nil
		case <-grown:
		}
	}
}

// table returns the table that goes with the next bucket.
func (b *fakeBalancer) table() *pb.SliceTable {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.slices
	b.slices = nil
	return t
}

func (b *fakeBalancer) registrations() []*pb.RegisterRequest {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.registered)
}

func (b *fakeBalancer) reported() []*pb.ReportRequest {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.reports)
}

func (b *fakeBalancer) newest() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.head
}

func (b *fakeBalancer) set(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
	close(b.grown)
	b.grown = make(chan struct{})
}

func quietLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

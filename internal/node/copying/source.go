package copying

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"adshard/barrels"
	"adshard/barrels/index"
	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/internal/wait"
	"adshard/schema/pb"
	"adshard/search/words"
)

// SourceConfig says which store is copied, and how many of the slave's resources copies may take.
type SourceConfig struct {
	// Name is the slave's name; Dir is the directory of its store.
	Name, Dir string
	// Instance is the instance of the directory (pb.Replica), or 0 if unknown.
	Instance uint64
	// Trusted are the addresses that may make copies; an empty list means only those of this
	// machine.
	Trusted []netip.Prefix
	// Rate bounds the bytes per second that are read for all copies together; 0 means no bound.
	Rate uint64
	// Most bounds the number of checkpoints held at a time. Pause is the time between two new
	// checkpoints.
	Most  int
	Pause time.Duration
	// Languages are those whose words have stems in the store.
	Languages words.Languages
	// Idle is how long a checkpoint is held without a call, and Age how long it is held at most.
	// Linger is how long the log of changes is held after that, until the copy has started.
	Idle, Age, Linger time.Duration
	// Room is how many bytes of the disk must be free before a checkpoint is made. With less than
	// half of that, all checkpoints are released, because they keep files that the store has
	// replaced.
	Room uint64
}

// DefaultSource returns the configuration of a slave with this name and directory.
func DefaultSource(name, dir string) SourceConfig {
	return SourceConfig{
		Name: name, Dir: dir, Rate: DefaultRate, Most: 2, Pause: 2 * time.Second,
		Idle: time.Minute, Age: 6 * time.Hour, Linger: 2 * time.Minute, Room: 256 << 20,
	}
}

// DefaultRate is how many bytes per second all copies together read, and how many they write.
const DefaultRate = 256 << 20

// Store is the store that is copied. barrels.Store implements it.
type Store interface {
	Checkpoint(dir string) (*barrels.Contents, error)
	Position() *pb.Position
	Slices() *pb.SliceTable
}

// Feed has what else a source needs from its slave. loadproxy.Proxy implements it.
type Feed interface {
	// Hold keeps the log of changes from the store's present position on, until `release` is
	// called.
	Hold() (release func())
	// WhyIncomplete returns why the slave serves less than it should, or "".
	WhyIncomplete() string
}

// Source is the gRPC service Copies of a slave. Make it with NewSource; Run releases
// unused checkpoints.
type Source struct {
	pb.UnimplementedCopiesServer
	cfg    SourceConfig
	store  Store
	feed   Feed
	log    *slog.Logger
	want   want // what callers must be able to read
	rate   *rate.Limiter
	pause  *rate.Limiter
	making chan struct{} // holds one element while a checkpoint is being made

	mu     sync.Mutex // guards the fields below
	leases map[uint64]*lease
	held   []holding // of leases that have ended
	sent   uint64    // total bytes sent
}

// holding is a hold on the log of changes, for a copy that was made.
type holding struct {
	release func()
	until   time.Time
}

// checkpointsDir is the directory of the checkpoints within the store's directory.
const checkpointsDir = "checkpoints"

// NewSource returns the source of a store, and removes what an earlier process has left behind.
func NewSource(cfg SourceConfig, store Store, feed Feed, log *slog.Logger) (*Source, error) {
	s := &Source{cfg: cfg, store: store, feed: feed, log: log, making: make(chan struct{}, 1),
		rate: limiter(cfg.Rate), pause: rate.NewLimiter(rate.Every(cfg.Pause), cfg.Most), leases: make(map[uint64]*lease)}
	s.want.format, s.want.words = barrels.Versions(cfg.Languages)
	if err := os.RemoveAll(s.dir()); err != nil {
		return nil, fileError("copying: start", err)
	}
	return s, nil
}

// limiter returns a limiter for a number of bytes per second.
func limiter(bytes uint64) *rate.Limiter {
	if bytes == 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(bytes), max(PieceBytes, int(min(bytes/10, 1<<30))))
}

func (s *Source) dir() string { return filepath.Join(s.cfg.Dir, checkpointsDir) }

// Run releases checkpoints that are no longer used until ctx is done, and then releases all.
func (s *Source) Run(ctx context.Context) error {
	const sweep = time.Second
	for wait.Sleep(ctx, sweep) == nil {
		s.sweep(time.Now())
	}
	s.mu.Lock()
	for _, l := range s.leases {
		s.giveUp(l, "the slave ends")
	}
	s.mu.Unlock()
	if err := os.RemoveAll(s.dir()); err != nil {
		return fileError("copying: end", err)
	}
	return nil
}

// State returns how many checkpoints are held, and how many bytes have been sent so far.
func (s *Source) State() (leases int, sent uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.leases), s.sent
}

// Open implements pb.CopiesServer. Errors: fault.Conflict for a caller that is not trusted or wants
// another database; fault.Version; fault.Overloaded if the maximum number of copies is being made;
// fault.NoSpace; fault.Unavailable if the slave has nothing that could be copied.
func (s *Source) Open(ctx context.Context, r *pb.OpenCopyRequest) (*pb.OpenCopyResponse, error) {
	const op = "copying: open"
	if err := s.checkTrust(ctx); err != nil {
		return nil, err
	}
	if len(r.GetToken()) < 16 {
		return nil, fault.Field(op, "token", "a token has 16 random characters or more")
	}
	if own := s.cfg.Instance; r.GetInstance() != 0 && own != 0 && r.GetInstance() != own {
		return nil, fault.Newf(fault.Conflict, op, "%s is not the slave that is meant: another one was at this address, or its directory was emptied", s.cfg.Name)
	}
	if err := wire.AtLeast(op, "the slave to be filled", wire.PeerVersion(ctx), wire.VersionData); err != nil {
		return nil, err
	}
	own := s.want
	own.database = r.GetDatabase()
	if err := own.checkContents(op, index.Database(s.store.Slices()), r.GetFormat(), r.GetWords()); err != nil {
		return nil, err
	}
	select {
	case s.making <- struct{}{}:
		defer func() { <-s.making }()
	case <-ctx.Done():
		return nil, fault.Newf(fault.Deadline, op, "timed out waiting for another checkpoint: %w", ctx.Err())
	}
	if reply, err := s.admit(r); reply != nil || err != nil {
		return reply, err
	}
	return s.checkpoint(r)
}

// admit returns the checkpoint that the caller already has, or nil if a new one may be made.
func (s *Source) admit(r *pb.OpenCopyRequest) (*pb.OpenCopyResponse, error) {
	const op = "copying: open"
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.leases {
		if l.token == r.GetToken() {
			l.used = time.Now()
			return l.reply, nil
		}
	}
	if why := s.feed.WhyIncomplete(); why != "" {
		return nil, fault.Newf(fault.Unavailable, op, "the store of %s cannot be copied now: %s", s.cfg.Name, why)
	}
	if s.store.Position().GetClock() == 0 {
		return nil, fault.Newf(fault.Unavailable, op, "the store of %s holds nothing that could be copied", s.cfg.Name)
	}
	if len(s.leases) >= s.cfg.Most || !s.pause.Allow() {
		return nil, fault.Newf(fault.Overloaded, op, "%d copies of %s are being made, and there may be %d: try again later, or copy another slave",
			len(s.leases), s.cfg.Name, s.cfg.Most)
	}
	return nil, needRoom(op, s.cfg.Dir, s.cfg.Room)
}

// checkpoint makes a checkpoint. It holds the log first, so that no change after the checkpoint's
// position can be missing.
func (s *Source) checkpoint(r *pb.OpenCopyRequest) (*pb.OpenCopyResponse, error) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	l := &lease{id: binary.LittleEndian.Uint64(random[:]) | 1, token: r.GetToken(), client: r.GetName(), began: time.Now(), calls: make(chan struct{}, maxCalls)}
	l.dir = filepath.Join(s.dir(), fmt.Sprintf("%016x", l.id))
	l.release = s.feed.Hold()
	contents, err := s.store.Checkpoint(l.dir)
	if err == nil {
		l.files, err = listFiles(l.dir)
	}
	if err != nil {
		l.release()
		return nil, errors.Join(err, os.RemoveAll(l.dir))
	}
	l.sums = make([][]uint64, len(l.files))
	l.reply = &pb.OpenCopyResponse{
		Lease: l.id, Name: s.cfg.Name, Database: contents.Database(), Position: contents.Position, Builder: contents.Builder,
		Format: s.want.format, Words: s.want.words, Files: l.files, IdleMs: uint32(s.cfg.Idle.Milliseconds()),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l.used = time.Now()
	s.leases[l.id] = l
	s.log.Info("a copy of the store begins", "of", l.client, "clock", contents.Position.GetClock(), "files", len(l.files), "took", time.Since(l.began))
	return l.reply, nil
}

// Release implements pb.CopiesServer. Releasing a checkpoint that is no longer held does nothing.
func (s *Source) Release(ctx context.Context, r *pb.ReleaseCopyRequest) (*pb.ReleaseCopyResponse, error) {
	if err := s.checkTrust(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.leases[r.GetLease()]; l != nil {
		s.giveUp(l, "it was released")
	}
	return &pb.ReleaseCopyResponse{}, nil
}

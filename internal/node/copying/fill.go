package copying

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/protobuf/proto"

	"adshard/barrels"
	"adshard/barrels/rocks"
	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/wire"
	"adshard/internal/outfile"
	"adshard/internal/wait"
	"adshard/schema/pb"
	"adshard/search/words"
)

// Config says which store is filled, and how.
type Config struct {
	// Name is the name of the slave that is being filled; Dir is the directory of its store. A store there
	// may be open: its files stay as they are, and files that it has in common with the copy are not
	// fetched.
	Name, Dir string
	// Database is the id of the database whose data the copy must have; "" means any.
	Database string
	// Instance is the instance of the slave whose store is wanted (pb.Replica); 0 means any.
	Instance uint64
	// Rate bounds the bytes per second; 0 means no bound.
	Rate uint64
	// CallTimeout bounds a call. Patience is how long Fill continues without receiving
	// a piece.
	CallTimeout, Patience time.Duration
	// Room is how many bytes of the disk must stay free in addition to the copy.
	Room uint64
	Log  *slog.Logger
	// Progress, if not nil, is updated with the progress of the copy.
	Progress *Progress
	// Languages are those whose words have stems in the store.
	Languages words.Languages
	// Own are the credentials with which FillFrom calls the source. From is the name that the source must
	// have; "" means any.
	Own  *certs.Credentials
	From string
}

// DefaultConfig returns the configuration for a slave with this name and directory.
func DefaultConfig(name, dir string, log *slog.Logger) Config {
	return Config{Name: name, Dir: dir, Rate: DefaultRate, CallTimeout: 30 * time.Second, Patience: time.Minute, Room: 64 << 20, Log: log}
}

// Result describes a finished copy.
type Result struct {
	// Source is the name of the slave whose store was copied.
	Source string
	// Contents describes the contents of the copy, which does not serve in any view yet.
	Contents *barrels.Contents
	// Bytes is the size of all files; Fetched is the number of those bytes that this call transferred.
	Bytes, Fetched uint64
	Took           time.Duration
}

// FillFrom calls Fill for the slave at an address.
func FillFrom(ctx context.Context, cfg Config, address string) (*Result, error) {
	conn, err := wire.DialStream(address, cfg.Own.To(cfg.From, access.Slave)...)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	r, err := Fill(ctx, cfg, pb.NewCopiesClient(conn))
	if err != nil {
		return nil, fmt.Errorf("copy the store of the slave at %s to %s: %w", address, cfg.Dir, err)
	}
	return r, nil
}

// Fill copies the store of a source. After it has returned, the copy becomes the store in cfg.Dir the next
// time that the store is opened or reloaded (barrels.Store.Reload); until then the old store stays. After an
// error or a crash, the next call continues with the files that are there, from this source or another one.
// Errors: fault.Conflict for data of another database, for a source that does not trust this slave, and for
// a source that is not the intended slave; fault.Version; fault.NoSpace; fault.Corrupt if pieces or the
// whole are damaged; fault.Invalid for a source that breaks the protocol; fault.Locked if Fill is already
// running on this directory; fault.Unavailable, fault.Deadline or fault.Overloaded if the source is away or
// busy for longer than cfg.Patience; those of ctx.
func Fill(ctx context.Context, cfg Config, source pb.CopiesClient) (*Result, error) {
	if err := outfile.MakeDir(cfg.Dir); err != nil {
		return nil, fileError(fillOp, err)
	}
	unlock, err := lock(cfg.Dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	f := &filler{cfg: cfg, source: source, dir: rocks.Incoming(cfg.Dir), rate: limiter(cfg.Rate), began: time.Now(), want: want{database: cfg.Database}}
	f.want.format, f.want.words = barrels.Versions(cfg.Languages)
	f.progress.Store(f.began.UnixNano())
	f.arrived.Store(f.began.UnixNano())
	if err := f.readToken(); err != nil {
		return nil, err
	}
	return f.run(ctx)
}

const fillOp = "copying: fill"

// Discard removes what an unfinished copy has left in a store's directory.
func Discard(dir string) error {
	if err := os.RemoveAll(rocks.Incoming(dir)); err != nil {
		return fileError(fillOp, err)
	}
	return nil
}

// run makes rounds until one succeeds: it begins a new one if the source no longer holds its checkpoint.
func (f *filler) run(ctx context.Context) (*Result, error) {
	pauses := newPauses()
	for {
		r, err := f.round(ctx)
		switch {
		case err == nil:
			return r, nil
		case ctx.Err() != nil:
			return nil, fault.New(fault.KindOf(ctx.Err()), fillOp, context.Cause(ctx))
		case !fault.Is(err, fault.NotFound) || f.impatient() || f.fruitless():
			if !transient(err) { // after a transient error, the next call continues with the same checkpoint
				f.release(ctx)
			}
			return nil, err
		}
		f.cfg.Log.Warn("the source holds its checkpoint no longer; going on with another one", "err", err)
		_ = pauses.Sleep(ctx) // the next round checks ctx
	}
}

func newPauses() wait.Backoff {
	return wait.Backoff{Least: 50 * time.Millisecond, Most: 2 * time.Second}
}

// impatient reports whether nothing has arrived for longer than Patience.
func (f *filler) impatient() bool {
	return time.Since(time.Unix(0, f.progress.Load())) > f.cfg.Patience
}

// fruitless reports whether no piece has arrived for longer than Patience. It ignores checksums, which
// arrive in each round even from a source that never sends a piece.
func (f *filler) fruitless() bool {
	return time.Since(time.Unix(0, f.arrived.Load())) > f.cfg.Patience
}

// call calls the source, and repeats the call while the source is away or busy.
func call[T any](ctx context.Context, f *filler, make func(context.Context) (T, error)) (T, error) {
	pauses := newPauses()
	for {
		one, cancel := context.WithTimeout(ctx, f.cfg.CallTimeout)
		reply, err := make(one)
		cancel()
		if err == nil || ctx.Err() != nil || !transient(err) || f.impatient() {
			return reply, err
		}
		if pauses.Longest() {
			f.cfg.Log.Warn("the copy waits for its source", "kind", fault.KindOf(err).String(), "err", err)
		}
		_ = pauses.Sleep(ctx) // the next call checks ctx
	}
}

// transient reports whether an error says that the source is away or busy.
func transient(err error) bool {
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.Deadline, fault.Overloaded:
		return true
	}
	return false
}

// filler is the state of one call of Fill.
type filler struct {
	cfg    Config
	source pb.CopiesClient
	dir    string // where the files are collected
	want   want
	rate   *rate.Limiter
	token  string
	lease  uint64 // of the checkpoint opened last, or 0
	began  time.Time
	transfer
}

// tokenFile has the token by which the source recognizes this copy.
const tokenFile = "token"

// readToken reads the token of an interrupted call, or makes a new one.
func (f *filler) readToken() error {
	file := filepath.Join(f.dir, tokenFile)
	if text, err := os.ReadFile(file); err == nil && len(text) >= 16 && len(text) <= wire.MaxToken {
		f.token = strings.TrimSpace(string(text))
		return nil
	}
	f.token = rand.Text()
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fileError(fillOp, err)
	}
	if err := os.WriteFile(file, []byte(f.token), 0o600); err != nil {
		return fileError(fillOp, err)
	}
	return nil
}

// round opens a checkpoint, fetches the missing pieces, and completes the copy.
func (f *filler) round(ctx context.Context) (*Result, error) {
	m, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	f.lease = m.GetLease()
	total, err := f.check(m)
	if err != nil {
		return nil, err
	}
	list, err := f.plan(ctx, m)
	if err != nil {
		return nil, err
	}
	if err := needRoom(fillOp, f.cfg.Dir, f.cfg.Room+f.missing(list)); err != nil {
		return nil, err
	}
	f.cfg.Log.Info("copying a store", "from", m.GetName(), "clock", m.GetPosition().GetClock(), "files", len(m.GetFiles()),
		"size", mib(total), "missing", mib(f.missing(list)))
	f.cfg.Progress.begin(total, f.missing(list))
	if err := f.fetch(ctx, m.GetLease(), list); err != nil {
		return nil, err
	}
	f.cfg.Log.Info("reading the copy", "fetched", mib(f.fetched.Load()))
	contents, err := f.settle(ctx, m)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(f.dir, tokenFile)); err != nil {
		return nil, fileError(fillOp, err)
	}
	if err := rocks.Complete(f.cfg.Dir); err != nil {
		return nil, err
	}
	f.release(ctx)
	return &Result{Source: m.GetName(), Contents: contents, Bytes: total, Fetched: f.fetched.Load(), Took: time.Since(f.began)}, nil
}

func (f *filler) open(ctx context.Context) (*pb.OpenCopyResponse, error) {
	return call(ctx, f, func(ctx context.Context) (*pb.OpenCopyResponse, error) {
		return f.source.Open(ctx, &pb.OpenCopyRequest{Token: f.token, Name: f.cfg.Name, Database: f.want.database, Format: f.want.format, Words: f.want.words,
			Instance: f.cfg.Instance})
	})
}

// release tells the source to release its checkpoint now; otherwise the source does so later by itself.
func (f *filler) release(ctx context.Context) {
	if f.lease == 0 {
		return
	}
	one, cancel := context.WithTimeout(ctx, f.cfg.CallTimeout)
	defer cancel()
	if _, err := f.source.Release(one, &pb.ReleaseCopyRequest{Lease: f.lease}); err != nil {
		f.cfg.Log.Warn("the source could not be asked to give up its checkpoint; it does so later", "err", err)
	}
}

// check checks the source's description of its store, and returns the total size of the files.
func (f *filler) check(m *pb.OpenCopyResponse) (total uint64, err error) {
	if err := f.want.checkContents(fillOp, m.GetDatabase(), m.GetFormat(), m.GetWords()); err != nil {
		return 0, err
	}
	return checkManifest(m)
}

// settle reads the whole copy, compares it with the source's description, and takes it out of all views. It
// removes a damaged copy, since nothing in it can be trusted.
func (f *filler) settle(ctx context.Context, m *pb.OpenCopyResponse) (*barrels.Contents, error) {
	const memory = 8 << 20
	db, err := rocks.Open(f.dir, rocks.Options{CacheBytes: memory, WriteBufferBytes: memory, MinFreeBytes: 1})
	var contents *barrels.Contents
	if err == nil {
		contents, err = barrels.Settle(ctx, db, f.cfg.Languages)
		err = errors.Join(err, db.Close())
	}
	if err == nil && (!proto.Equal(contents.Position, m.GetPosition()) || contents.Builder != m.GetBuilder() || contents.Database() != m.GetDatabase()) {
		err = fault.Newf(fault.Corrupt, fillOp, "the copy is of database %q at %v, built by version %d; the source offered %q at %v, version %d",
			contents.Database(), contents.Position, contents.Builder, m.GetDatabase(), m.GetPosition(), m.GetBuilder())
	}
	if fault.Is(err, fault.Corrupt) {
		return nil, errors.Join(fault.Newf(fault.Corrupt, fillOp,
			"the copy of %s is damaged, although each piece arrived as it was read: check the disk there, and copy from another slave or let the slave fill itself from the database: %w",
			m.GetName(), err), os.RemoveAll(f.dir))
	}
	return contents, err
}

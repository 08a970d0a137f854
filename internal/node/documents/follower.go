package documents

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/internal/wait"
	"adshard/schema/pb"
)

const (
	// watchWait is how long the balancer may wait for a change, callTime how long an answer may take otherwise.
	watchWait = 20 * time.Second
	callTime  = 5 * time.Second
	// damagedWait takes the place of watchWait while a document is damaged: it is read again then, since the damage may be that of
	// one answer.
	damagedWait = 5 * time.Second
)

// Source is the balancer.
type Source interface {
	WatchDocuments(ctx context.Context, r *pb.WatchDocumentsRequest) (*pb.WatchDocumentsResponse, error)
	DocumentPart(ctx context.Context, r *pb.DocumentPartRequest) (*pb.DocumentPartResponse, error)
}

// Keeper keeps documents. Its methods are called by one goroutine.
type Keeper interface {
	// Wants reports whether documents of a name are kept.
	Wants(name string) bool
	// Put takes a document with its data, as backend.PackDocument made them, in place of an older one. Errors: fault.Corrupt.
	Put(d backend.Document, data []byte) error
	// Unread is called for a document that is there and is not read: it is damaged, or has been replaced meanwhile and comes soon. An older
	// one that the keeper has stays in use; without one the document must not pass for missing. It ends with Put or Drop.
	Unread(name string)
	// Drop removes a document.
	Drop(name string)
	// Known is called when all documents are there that the balancer had a moment ago, except unread ones.
	Known()
}

// Follower keeps the documents of the balancer.
type Follower struct {
	name   string        // of the process
	of     func() string // whose data the process has
	source Source
	keeper Keeper
	log    *slog.Logger

	run   string                      // of the heads
	after uint64                      // the newest head
	heads map[string]backend.Document // that the keeper has
	fresh map[string]bool             // names that were announced since run changed; nil: all were

	mu      sync.Mutex
	damaged map[string]damage // unread documents by name; guarded by mu, written by Run only
}

// damage is a document that is not read.
type damage struct {
	head backend.Document
	err  error
}

// New returns a follower for a process of a name. of returns whose data the process has, the id of a database, or "" if it has none yet:
// a balancer that was started on another database must not take its block lists away.
func New(name string, of func() string, source Source, keeper Keeper, log *slog.Logger) *Follower {
	return &Follower{name: name, of: of, source: source, keeper: keeper, log: log, heads: map[string]backend.Document{}, damaged: map[string]damage{}}
}

// Run follows until ctx is done.
func (f *Follower) Run(ctx context.Context) {
	pause := wait.Backoff{Least: 50 * time.Millisecond, Most: time.Second}
	trouble := ""
	for ctx.Err() == nil {
		err := f.poll(ctx)
		if err == nil {
			pause.Reset()
			trouble = ""
			continue
		}
		if ctx.Err() == nil && err.Error() != trouble {
			trouble = err.Error()
			f.log.Warn("no newer places and block lists; those that are here are used", "err", err)
		}
		_ = pause.Sleep(ctx)
	}
}

// poll waits once for changes and takes them. A document that is damaged does not keep others from being taken.
func (f *Follower) poll(ctx context.Context) error {
	damaged, patience := f.damagedHeads(), watchWait
	if len(damaged) > 0 {
		patience = damagedWait
	}
	call, cancel := context.WithTimeout(ctx, patience+callTime)
	defer cancel()
	reply, err := f.source.WatchDocuments(call, &pb.WatchDocumentsRequest{Name: f.name, After: f.after, Run: f.run, WaitMs: uint32(patience.Milliseconds())})
	if err != nil {
		return err
	}
	if own, theirs := f.of(), reply.GetDatabase(); own != "" && theirs != "" && own != theirs {
		return fault.Newf(fault.Conflict, "follow documents", "the balancer has places and block lists of database %s, this process has data of %s", theirs, own)
	}
	if reply.GetRun() != f.run { // all heads come again
		f.run, f.after, f.fresh = reply.GetRun(), 0, map[string]bool{}
	}
	heads := slices.SortedFunc(slices.Values(reply.GetDocuments()), func(a, b *pb.Document) int { return cmp.Compare(a.GetVersion(), b.GetVersion()) })
	for _, m := range heads {
		d := wire.ToDocument(m)
		if f.fresh != nil {
			f.fresh[d.Name] = true
		}
		if err := f.take(ctx, d, m.GetData()); err != nil {
			return err
		}
		f.after = d.Version
	}
	if err := f.takeAgain(ctx, damaged); err != nil {
		return err
	}
	if reply.GetMore() {
		return nil
	}
	if f.fresh != nil {
		f.dropOthers()
		f.keeper.Known()
	}
	return nil
}

// damagedHeads are the heads of documents that could not be read, by name.
func (f *Follower) damagedHeads() (list []backend.Document) {
	for _, name := range slices.Sorted(maps.Keys(f.damaged)) {
		list = append(list, f.damaged[name].head)
	}
	return list
}

// takeAgain takes documents that could not be read before the poll, unless the poll has brought others in their place: what has been
// replaced cannot be read any more. Errors: those of the balancer.
func (f *Follower) takeAgain(ctx context.Context, damaged []backend.Document) error {
	for _, d := range damaged {
		if now, still := f.damaged[d.Name]; !still || now.head != d {
			continue
		}
		if err := f.take(ctx, d, nil); err != nil {
			return err
		}
	}
	return nil
}

// take takes a document unless the keeper has it. data came with its head, nil: they did not. A damaged one is noted. Errors: those of
// the balancer.
func (f *Follower) take(ctx context.Context, d backend.Document, data []byte) error {
	if !f.keeper.Wants(d.Name) {
		return nil
	}
	if has := f.heads[d.Name]; has == d && !d.Removed {
		f.repaired(d.Name)
		return nil
	}
	if d.Removed {
		f.drop(d.Name)
		return nil
	}
	switch err := f.fetch(ctx, d, data); {
	case err == nil:
		f.repaired(d.Name)
		f.heads[d.Name] = d
		f.log.Info("document", "name", d.Name, "version", d.Version, "bytes", d.Size)
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Corrupt): // what has been replaced meanwhile is announced again
		f.unread(d, err)
	default:
		return err
	}
	return nil
}

// fetch gives a document to the keeper; it is read in parts unless its data came with its head, undamaged. Errors: those of the balancer,
// and fault.Corrupt.
func (f *Follower) fetch(ctx context.Context, d backend.Document, data []byte) error {
	if d.Verify(data) != nil {
		var err error
		if data, err = backend.ReadDocument(ctx, d, f.part); err != nil {
			return err
		}
	}
	return f.keeper.Put(d, data)
}

// drop removes a document, if it is here.
func (f *Follower) drop(name string) {
	_, damaged := f.damaged[name]
	_, here := f.heads[name]
	if f.repaired(name); here || damaged {
		f.keeper.Drop(name)
		delete(f.heads, name)
	}
}

// unread notes that a document is not read.
func (f *Follower) unread(d backend.Document, err error) {
	if f.damaged[d.Name].head != d && fault.Is(err, fault.Corrupt) {
		f.log.Error("a document cannot be read; an older one that is here is used. Save it again", "name", d.Name, "version", d.Version, "err", err)
	}
	f.mu.Lock()
	f.damaged[d.Name] = damage{d, err}
	f.mu.Unlock()
	f.keeper.Unread(d.Name)
}

func (f *Follower) repaired(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.damaged, name)
}

// Trouble says which documents cannot be read, and why; nothing if all can. It is safe for concurrent use.
func (f *Follower) Trouble() (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(f.damaged)) {
		if fault.Is(f.damaged[name].err, fault.NotFound) {
			continue
		}
		list = append(list, fmt.Sprintf("%s cannot be read, save it again: %v", name, f.damaged[name].err))
	}
	return list
}

func (f *Follower) part(ctx context.Context, name string, version uint64, part int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	reply, err := f.source.DocumentPart(ctx, &pb.DocumentPartRequest{Name: f.name, Document: name, Version: version, Part: uint32(part)})
	return reply.GetData(), err
}

// dropOthers drops what was not announced: a restored database may never have had it.
func (f *Follower) dropOthers() {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(f.heads)), slices.Collect(maps.Keys(f.damaged))) {
		if !f.fresh[name] {
			f.drop(name)
		}
	}
	f.fresh = nil
}

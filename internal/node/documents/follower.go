package documents

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
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
	// Put takes a document in place of an older one. Errors: fault.Corrupt.
	Put(d backend.Document, text string) error
	// Drop removes a document.
	Drop(name string)
	// Known is called when all documents are there that the balancer had a moment ago.
	Known()
}

// Follower keeps the documents of the balancer.
type Follower struct {
	name   string // of the process
	source Source
	keeper Keeper
	log    *slog.Logger

	run   string                      // of the heads
	after uint64                      // the newest head
	heads map[string]backend.Document // that the keeper has
	fresh map[string]bool             // names that were announced since run changed; nil: all had been
}

// New returns a follower for a process of a name.
func New(name string, source Source, keeper Keeper, log *slog.Logger) *Follower {
	return &Follower{name: name, source: source, keeper: keeper, log: log, heads: map[string]backend.Document{}}
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

// poll waits once for changes and takes them.
func (f *Follower) poll(ctx context.Context) error {
	call, cancel := context.WithTimeout(ctx, watchWait+callTime)
	defer cancel()
	reply, err := f.source.WatchDocuments(call, &pb.WatchDocumentsRequest{Name: f.name, After: f.after, Run: f.run, WaitMs: uint32(watchWait.Milliseconds())})
	if err != nil {
		return err
	}
	if reply.GetRun() != f.run { // all heads come again
		f.run, f.after, f.fresh = reply.GetRun(), 0, map[string]bool{}
	}
	heads := slices.SortedFunc(slices.Values(wire.ToDocuments(reply.GetDocuments())), func(a, b backend.Document) int { return cmp.Compare(a.Version, b.Version) })
	for _, d := range heads {
		if err := f.take(ctx, d); err != nil {
			return err
		}
		f.after = d.Version
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

// take fetches a document unless the keeper has it.
func (f *Follower) take(ctx context.Context, d backend.Document) error {
	if !f.keeper.Wants(d.Name) {
		return nil
	}
	if f.fresh != nil {
		f.fresh[d.Name] = true
	}
	switch has, there := f.heads[d.Name]; {
	case d.Removed:
		if there {
			f.keeper.Drop(d.Name)
			delete(f.heads, d.Name)
		}
		return nil
	case has == d:
		return nil
	}
	data, err := backend.ReadDocument(ctx, d, f.part)
	if fault.Is(err, fault.NotFound) {
		return nil // it has been replaced meanwhile, and is announced again
	}
	var text string
	if err == nil {
		text, err = backend.UnpackDocument(data)
	}
	if err == nil {
		err = f.keeper.Put(d, text)
	}
	if err != nil {
		return err
	}
	f.heads[d.Name] = d
	f.log.Info("document", "name", d.Name, "version", d.Version, "bytes", d.Size)
	return nil
}

func (f *Follower) part(ctx context.Context, name string, version uint64, part int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	reply, err := f.source.DocumentPart(ctx, &pb.DocumentPartRequest{Name: f.name, Document: name, Version: version, Part: uint32(part)})
	return reply.GetData(), err
}

// dropOthers drops what was not announced: a restored database may never have had it.
func (f *Follower) dropOthers() {
	for _, name := range slices.Sorted(maps.Keys(f.heads)) {
		if !f.fresh[name] {
			f.keeper.Drop(name)
			delete(f.heads, name)
		}
	}
	f.fresh = nil
}

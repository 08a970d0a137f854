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
	// watchWait is how long the balancer may wait for a change; callTime is how long a call may take in addition.
	watchWait = 20 * time.Second
	callTime  = 5 * time.Second
	// damagedWait replaces watchWait while a document is damaged. The document is read again then, since the damage may be in a single
	// answer only.
	damagedWait = 5 * time.Second
)

// Source tells which documents have changed, and has their data. The balancer is one.
type Source interface {
	WatchDocuments(ctx context.Context, r *pb.WatchDocumentsRequest) (*pb.WatchDocumentsResponse, error)
	DocumentPart(ctx context.Context, r *pb.DocumentPartRequest) (*pb.DocumentPartResponse, error)
}

// Keeper keeps documents. Only one goroutine calls its methods.
type Keeper interface {
	// Wants reports whether the keeper keeps the document with a name.
	Wants(name string) bool
	// Put stores a document and its data, in the form of backend.PackDocument, in place of an older one. Errors: fault.Corrupt.
	Put(d backend.Document, data []byte) error
	// Unread says that a document exists but could not be read: it is damaged, or it has just been replaced and will come soon. If the
	// keeper has an older one, that stays in use; if not, the keeper must not treat the document as missing. A later Put or Drop ends this.
	Unread(name string)
	// Drop removes a document.
	Drop(name string)
	// Known says that the keeper has all documents that the balancer had a moment ago, except unread ones.
	Known()
}

// Follower gives a keeper the balancer's documents.
type Follower struct {
	name   string        // of the process
	of     func() string // returns the id of the database whose data the process has
	source Source
	keeper Keeper
	log    *slog.Logger

	run   string                      // the server's run to which the heads belong
	after uint64                      // version of the newest head
	heads map[string]backend.Document // heads of the documents that the keeper has
	fresh map[string]bool             // names announced since run changed; nil once all have been

	doubt doubt

	mu      sync.Mutex
	damaged map[string]damage // unread documents by name; guarded by mu, written by Run only
}

// damage says why a document could not be read.
type damage struct {
	head backend.Document
	err  error
}

// New returns a follower for the process with a name. `of` returns the id of the database whose data the process has, or "" if it has none
// yet: a balancer that was started on another database must not take the block lists away.
func New(name string, of func() string, source Source, keeper Keeper, log *slog.Logger) *Follower {
	return &Follower{name: name, of: of, source: source, keeper: keeper, log: log, heads: map[string]backend.Document{}, damaged: map[string]damage{}}
}

// Run follows until ctx is done.
func (f *Follower) Run(ctx context.Context) {
	pause := wait.Backoff{Least: 50 * time.Millisecond, Most: time.Second}
	var complaint wait.Complaint
	for ctx.Err() == nil {
		err := f.poll(ctx)
		tell := complaint.Tell(err)
		if err == nil {
			pause.Reset()
			continue
		}
		if ctx.Err() == nil && tell {
			f.log.Warn("no newer places and block lists; those that are here are used", "err", err)
		}
		_ = pause.Sleep(ctx)
	}
}

// poll waits once for changes and takes them. A damaged document does not keep the others from being taken.
func (f *Follower) poll(ctx context.Context) error {
	damaged := f.damagedHeads()
	reply, settles, err := f.watch(ctx, len(damaged) > 0)
	if err == nil && reply == nil {
		return nil
	}
	if err == nil {
		err = f.takeAll(ctx, reply, damaged)
	}
	if !reply.GetMore() {
		f.doubt.settle(settles, err)
	}
	return err
}

// watch asks for changes, for which the balancer may wait unless there is a doubt. It returns the number of doubts that the reply
// settles; there is no reply if a doubt has ended the call, which is to be repeated at once.
func (f *Follower) watch(ctx context.Context, damaged bool) (reply *pb.WatchDocumentsResponse, settles uint64, err error) {
	patience := watchWait
	if damaged {
		patience = damagedWait
	}
	ctx, cancel := context.WithTimeout(ctx, patience+callTime)
	defer cancel()
	settles, any := f.doubt.begin(cancel)
	if any {
		patience = 0
	}
	reply, err = f.source.WatchDocuments(ctx, &pb.WatchDocumentsRequest{Name: f.name, After: f.after, Run: f.run, WaitMs: uint32(patience.Milliseconds())})
	if late := f.doubt.end(settles); late && err != nil {
		return nil, 0, nil
	}
	return reply, settles, err
}

// takeAll takes the changes of a reply, and the documents again that could not be read. Errors: those of the balancer.
func (f *Follower) takeAll(ctx context.Context, reply *pb.WatchDocumentsResponse, damaged []backend.Document) error {
	if own, theirs := f.of(), reply.GetDatabase(); own != "" && theirs != "" && own != theirs {
		return fault.Newf(fault.Conflict, "follow documents", "the balancer has places and block lists of database %s, this process has data of %s", theirs, own)
	}
	if reply.GetRun() != f.run { // all heads are sent again
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
	if f.fresh != nil && !reply.GetMore() {
		f.dropOthers()
		f.keeper.Known()
	}
	return nil
}

// damagedHeads returns the heads of the documents that could not be read, by name.
func (f *Follower) damagedHeads() (list []backend.Document) {
	for _, name := range slices.Sorted(maps.Keys(f.damaged)) {
		list = append(list, f.damaged[name].head)
	}
	return list
}

// takeAgain takes the documents that could not be read before the poll, except those that the poll has replaced, whose old versions can no
// longer be read. Errors: those of the balancer.
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

// take takes a document, unless the keeper has it already. `data` came with its head, or is nil. A document that cannot be read is noted as
// damaged. Errors: those of the balancer.
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
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Corrupt): // a document that has been replaced meanwhile is announced again
		f.unread(d, err)
	default:
		return err
	}
	return nil
}

// fetch gives a document to the keeper. It reads the document in parts, unless undamaged data came with the head. Errors: those of the
// balancer, and fault.Corrupt.
func (f *Follower) fetch(ctx context.Context, d backend.Document, data []byte) error {
	if d.Verify(data) != nil {
		var err error
		if data, err = backend.ReadDocument(ctx, d, f.part); err != nil {
			return err
		}
	}
	return f.keeper.Put(d, data)
}

// drop removes a document, if the keeper has it or waits for it.
func (f *Follower) drop(name string) {
	_, damaged := f.damaged[name]
	_, here := f.heads[name]
	if f.repaired(name); here || damaged {
		f.keeper.Drop(name)
		delete(f.heads, name)
	}
}

// unread records that a document could not be read.
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

// Trouble lists the documents that cannot be read, and why. It is safe for concurrent use.
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

// dropOthers drops the documents that were not announced: a restored database may never have had them.
func (f *Follower) dropOthers() {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(f.heads)), slices.Collect(maps.Keys(f.damaged))) {
		if !f.fresh[name] {
			f.drop(name)
		}
	}
	f.fresh = nil
}

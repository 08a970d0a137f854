package copying

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"adshard/fault"
	"adshard/schema/pb"
)

// transfer records what arrives.
type transfer struct {
	fetched  atomic.Uint64 // bytes
	progress atomic.Int64  // when something last arrived, in ns since 1970
	arrived  atomic.Int64  // when a piece last arrived
}

// advanced records that something has arrived.
func (t *transfer) advanced() { t.progress.Store(time.Now().UnixNano()) }

const (
	// inFlight is how many pieces are asked for at a time. That many are in memory.
	inFlight = 4
	// maxFlips is how often in a row a piece may arrive damaged.
	maxFlips = 3
	// every is the time between two log lines about progress.
	every = 10 * time.Second
)

// missing returns the number of bytes in all pieces that are still to be fetched.
func (f *filler) missing(list []*target) (bytes uint64) {
	for _, t := range list {
		_, b := t.missing()
		bytes += b
	}
	return bytes
}

// fetch fetches the missing pieces, file after file. A file gets its final name when all of it is
// on disk.
func (f *filler) fetch(ctx context.Context, lease uint64, list []*target) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(inFlight)
	logged := time.Now()
	for _, t := range list {
		if t.done {
			continue
		}
		p, err := f.begin(t)
		if err != nil {
			return firstError(group, err)
		}
		if p.left.Load() == 0 { // all pieces are there, or the file has none
			group.Go(p.finish)
		}
		for piece := range t.todo {
			group.Go(func() error { return p.fetch(ctx, lease, piece) })
			if ctx.Err() != nil {
				break
			}
		}
		if time.Since(logged) > every {
			logged = time.Now()
			f.cfg.Log.Info("copying", "fetched", mib(f.fetched.Load()))
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := syncDir(f.dir); err != nil {
		return fileError(fillOp, err)
	}
	return nil
}

// firstError waits for the pieces under way, and returns the first error.
func firstError(group *errgroup.Group, err error) error {
	if earlier := group.Wait(); earlier != nil {
		return earlier
	}
	return err
}

// part is a file that is being fetched.
type part struct {
	*filler
	target *target
	path   string // its final name
	left   atomic.Int64
}

// begin creates the file that the pieces are written to. Each piece opens it again, since thousands
// of files may be begun while few pieces are under way.
func (f *filler) begin(t *target) (*part, error) {
	p := &part{filler: f, target: t, path: filepath.Join(f.dir, t.GetName())}
	count, _ := t.missing()
	p.left.Store(int64(count))
	file, err := os.OpenFile(p.path+partSuffix, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fileError(fillOp, err)
	}
	if err := file.Close(); err != nil {
		return nil, fileError(fillOp, err)
	}
	return p, nil
}

// fetch fetches a piece and writes it at its place in the file.
func (p *part) fetch(ctx context.Context, lease uint64, piece int) error {
	data, err := p.read(ctx, lease, piece)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(p.path+partSuffix, os.O_WRONLY, 0)
	if err != nil {
		return fileError(fillOp, err)
	}
	_, err = file.WriteAt(data, int64(piece)*PieceBytes)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fileError(fillOp, err)
	}
	p.fetched.Add(uint64(len(data)))
	p.cfg.Progress.add(uint64(len(data)))
	p.advanced()
	p.arrived.Store(p.progress.Load())
	if p.left.Add(-1) == 0 {
		return p.finish()
	}
	return nil
}

// read asks for a piece until it arrives undamaged.
func (p *part) read(ctx context.Context, lease uint64, piece int) ([]byte, error) {
	size := pieceLen(p.target.GetSize(), piece)
	if err := p.rate.WaitN(ctx, size); err != nil {
		return nil, fault.New(fault.Cancelled, fillOp, err)
	}
	for flips := 1; ; flips++ {
		reply, err := call(ctx, p.filler, func(ctx context.Context) (*pb.ReadCopyResponse, error) {
			return p.source.Read(ctx, &pb.ReadCopyRequest{Lease: lease, File: p.target.index, Piece: uint32(piece)})
		})
		if err != nil {
			return nil, err
		}
		data := reply.GetData()
		switch {
		case len(data) != size:
			return nil, fault.Newf(fault.Invalid, fillOp, "the source sends %d bytes as piece %d of %s, which has %d", len(data), piece, p.target.GetName(), size)
		case sumOf(data) == reply.GetSum():
			return data, nil
		case flips == maxFlips:
			return nil, fault.Newf(fault.Corrupt, fillOp, "piece %d of %s arrived damaged %d times; check the network and the memory of both machines", piece, p.target.GetName(), flips)
		}
		p.cfg.Log.Warn("a piece arrived damaged; it is fetched again", "file", p.target.GetName(), "piece", piece)
	}
}

// finish flushes the file to disk and gives it its final name.
func (p *part) finish() error {
	file, err := os.OpenFile(p.path+partSuffix, os.O_WRONLY, 0)
	if err != nil {
		return fileError(fillOp, err)
	}
	if err = file.Truncate(int64(p.target.GetSize())); err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(p.path+partSuffix, p.path)
	}
	if err != nil {
		return fileError(fillOp, err)
	}
	return nil
}

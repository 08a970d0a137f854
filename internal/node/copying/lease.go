package copying

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
)

// lease is a checkpoint that is held for one caller.
type lease struct {
	id            uint64
	token, client string
	dir           string
	files         []*pb.CopyFile
	reply         *pb.OpenCopyResponse
	release       func() // ends the hold on the log
	began         time.Time
	used          time.Time     // guarded by Source.mu
	calls         chan struct{} // one for each call under way

	summing sync.Mutex
	sums    [][]uint64 // of the first pieces of each file; guarded by summing
}

// maxCalls bounds the calls under way on one lease, and with them the pieces in memory.
const maxCalls = 8

// listFiles returns the files of a checkpoint that are to be copied.
func listFiles(dir string) (files []*pb.CopyFile, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fileError("copying: open", err)
	}
	for _, e := range entries {
		if !fileNames.MatchString(e.Name()) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, fileError("copying: open", err)
		}
		files = append(files, &pb.CopyFile{Name: e.Name(), Size: uint64(info.Size())})
	}
	return files, nil
}

// sweep releases checkpoints that are no longer used, and all of them if the disk is short of
// space.
func (s *Source) sweep(now time.Time) {
	free, err := freeBytes(s.cfg.Dir)
	short := err == nil && free < s.cfg.Room/2
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.leases {
		switch {
		case short:
			s.giveUp(l, "the disk is short of room")
		case now.Sub(l.used) > s.cfg.Idle && len(l.calls) == 0:
			s.giveUp(l, "it was not used any more")
		case now.Sub(l.began) > s.cfg.Age:
			s.giveUp(l, "it took too long")
		}
	}
	s.held = slices.DeleteFunc(s.held, func(h holding) bool {
		if now.Before(h.until) {
			return false
		}
		h.release()
		return true
	})
}

// giveUp ends a lease; the log stays held for a while. The caller holds mu.
func (s *Source) giveUp(l *lease, why string) {
	delete(s.leases, l.id)
	s.held = append(s.held, holding{l.release, time.Now().Add(s.cfg.Linger)})
	if err := os.RemoveAll(l.dir); err != nil {
		s.log.Error("a checkpoint cannot be removed; it is removed at the next start", "dir", l.dir, "err", err)
	}
	s.log.Info("a copy of the store ends", "of", l.client, "why", why, "took", time.Since(l.began))
}

// enter begins a call on a lease. Errors: fault.NotFound if the lease has ended, fault.Overloaded
// if too many calls are under way, fault.Invalid for a file that the lease does not have.
func (s *Source) enter(ctx context.Context, op string, id uint64, file uint32) (l *lease, leave func(), err error) {
	if err := s.checkTrust(ctx); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l = s.leases[id]
	if l == nil {
		return nil, nil, fault.Newf(fault.NotFound, op, "the checkpoint is not held any more: open another one")
	}
	if int(file) >= len(l.files) {
		return nil, nil, fault.Field(op, "file", "the checkpoint has %d files, and no file %d", len(l.files), file)
	}
	select {
	case l.calls <- struct{}{}:
	default:
		return nil, nil, fault.Newf(fault.Overloaded, op, "%d calls for one copy are under way, the most there may be", maxCalls)
	}
	l.used = time.Now()
	return l, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.used = time.Now()
		<-l.calls
	}, nil
}

// open opens a file of a lease.
func (s *Source) open(op string, l *lease, file uint32) (*os.File, error) {
	f, err := os.Open(filepath.Join(l.dir, l.files[file].GetName()))
	if os.IsNotExist(err) { // it was given up meanwhile
		return nil, fault.Newf(fault.NotFound, op, "the checkpoint is not held any more: open another one")
	}
	if err != nil {
		return nil, fileError(op, err)
	}
	return f, nil
}

// Read implements pb.CopiesServer. Errors: those of enter, fault.Overloaded if the rate limit does
// not allow the piece before the deadline.
func (s *Source) Read(ctx context.Context, r *pb.ReadCopyRequest) (*pb.ReadCopyResponse, error) {
	const op = "copying: read"
	l, leave, err := s.enter(ctx, op, r.GetLease(), r.GetFile())
	if err != nil {
		return nil, err
	}
	defer leave()
	size := l.files[r.GetFile()].GetSize()
	if int64(r.GetPiece()) >= int64(pieces(size)) {
		return nil, fault.Field(op, "piece", "%s has %d pieces, and no piece %d", l.files[r.GetFile()].GetName(), pieces(size), r.GetPiece())
	}
	f, err := s.open(op, l, r.GetFile())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n := pieceLen(size, int(r.GetPiece()))
	if err := s.rate.WaitN(ctx, n); err != nil {
		return nil, fault.Newf(fault.Overloaded, op, "copies of %s take all that they may read: %w", s.cfg.Name, err)
	}
	data, err := readPiece(f, size, int(r.GetPiece()), make([]byte, n))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.sent += uint64(n)
	s.mu.Unlock()
	return &pb.ReadCopyResponse{Data: data, Sum: sumOf(data)}, nil
}

// Sums implements pb.CopiesServer. Sums computed before the deadline are kept for the next call.
// Errors: those of Read.
func (s *Source) Sums(ctx context.Context, r *pb.CopySumsRequest) (*pb.CopySumsResponse, error) {
	const op = "copying: sum"
	l, leave, err := s.enter(ctx, op, r.GetLease(), r.GetFile())
	if err != nil {
		return nil, err
	}
	defer leave()
	f, err := s.open(op, l, r.GetFile())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l.summing.Lock()
	defer l.summing.Unlock()
	size := l.files[r.GetFile()].GetSize()
	buf := make([]byte, min(size, PieceBytes))
	for sums := &l.sums[r.GetFile()]; len(*sums) < pieces(size); {
		n := len(*sums)
		if err := s.rate.WaitN(ctx, pieceLen(size, n)); err != nil {
			return nil, fault.Newf(fault.Overloaded, op, "copies of %s take all that they may read: %w", s.cfg.Name, err)
		}
		data, err := readPiece(f, size, n, buf)
		if err != nil {
			return nil, err
		}
		*sums = append(*sums, sumOf(data))
	}
	return &pb.CopySumsResponse{Sums: l.sums[r.GetFile()]}, nil
}

package copying

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adshard/fault"
	"adshard/schema/pb"
)

// partSuffix marks an incomplete file. Only incomplete files are written, since a complete one may
// be shared with an older copy.
const partSuffix = ".part"

// target is a file of the copy.
type target struct {
	*pb.CopyFile
	index uint32
	done  bool  // the complete file exists under its name
	fresh bool  // no part of it exists
	need  []int // the pieces to fetch, unless done or fresh is set
}

// todo iterates over the pieces to fetch. A source may offer more pieces than there is memory to
// list.
func (t *target) todo(yield func(piece int) bool) {
	if !t.fresh {
		for _, p := range t.need {
			if !yield(p) {
				return
			}
		}
		return
	}
	for p := range pieces(t.GetSize()) {
		if !yield(p) {
			return
		}
	}
}

// missing returns how many pieces, and how many bytes, are still to be fetched.
func (t *target) missing() (count int, bytes uint64) {
	if t.fresh {
		return pieces(t.GetSize()), t.GetSize()
	}
	for _, p := range t.need {
		bytes += uint64(pieceLen(t.GetSize(), p))
	}
	return len(t.need), bytes
}

// plan compares the existing files with the source's, removes those of no use, and returns the
// files with the pieces that are missing.
func (f *filler) plan(ctx context.Context, m *pb.OpenCopyResponse) ([]*target, error) {
	list := make([]*target, len(m.GetFiles()))
	wanted := map[string]bool{tokenFile: true}
	for i, file := range m.GetFiles() {
		list[i] = &target{CopyFile: file, index: uint32(i)}
		wanted[file.GetName()], wanted[file.GetName()+partSuffix] = true, true
	}
	if err := f.tidy(wanted); err != nil {
		return nil, err
	}
	for _, t := range list {
		if err := f.planFile(ctx, m.GetLease(), t); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// tidy removes the files of an earlier round that are not wanted.
func (f *filler) tidy(wanted map[string]bool) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fileError(fillOp, err)
	}
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return fileError(fillOp, err)
	}
	for _, e := range entries {
		if !wanted[e.Name()] {
			if err := os.RemoveAll(filepath.Join(f.dir, e.Name())); err != nil {
				return fileError(fillOp, err)
			}
		}
	}
	return nil
}

// planFile finds the pieces of a file that exist already: in the complete file of an earlier round,
// in a part of it, or in the store that the copy is to replace.
func (f *filler) planFile(ctx context.Context, lease uint64, t *target) (err error) {
	path := filepath.Join(f.dir, t.GetName())
	if t.done, err = f.same(ctx, lease, t, path); err != nil || t.done {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // a different file of this name
		return fileError(fillOp, err)
	}
	if _, err := os.Stat(path + partSuffix); err == nil {
		t.need, err = f.compare(ctx, lease, t, path+partSuffix)
		return err
	}
	t.done, err = f.reuse(ctx, lease, t)
	t.fresh = !t.done
	return err
}

// reuse shares a table file with the store that the copy is to replace, if that store has the same
// file. The store may remove its files at any time.
func (f *filler) reuse(ctx context.Context, lease uint64, t *target) (reused bool, err error) {
	if !strings.HasSuffix(t.GetName(), ".sst") {
		return false, nil // files of other kinds change
	}
	path := filepath.Join(f.dir, t.GetName())
	if err := os.Link(filepath.Join(f.cfg.Dir, t.GetName()), path); err != nil {
		return false, nil // there is no such file, or it cannot be shared: it will be fetched
	}
	if reused, err = f.same(ctx, lease, t, path); err == nil && reused {
		return true, nil
	}
	if err := os.Remove(path); err != nil {
		return false, fileError(fillOp, err)
	}
	return false, err
}

// same reports whether a local file has the same bytes as the source's.
func (f *filler) same(ctx context.Context, lease uint64, t *target, path string) (bool, error) {
	if info, err := os.Stat(path); err != nil || uint64(info.Size()) != t.GetSize() {
		return false, nil // it will be fetched; a fault of the disk shows then
	}
	need, err := f.compare(ctx, lease, t, path)
	return err == nil && len(need) == 0, err
}

// compare returns the pieces of a local file that differ from the source's, or are
// missing.
func (f *filler) compare(ctx context.Context, lease uint64, t *target, path string) (need []int, err error) {
	sums, err := f.sums(ctx, lease, t)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fileError(fillOp, err)
	}
	defer file.Close()
	buf := make([]byte, min(t.GetSize(), PieceBytes))
	for i, sum := range sums {
		data, err := readPiece(file, t.GetSize(), i, buf)
		if err != nil && !fault.Is(err, fault.Corrupt) { // Corrupt means that the file ends before the piece
			return nil, err
		}
		if err != nil || sumOf(data) != sum {
			need = append(need, i)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return need, nil
}

// sums returns the checksums of a file's pieces at the source.
func (f *filler) sums(ctx context.Context, lease uint64, t *target) ([]uint64, error) {
	reply, err := call(ctx, f, func(ctx context.Context) (*pb.CopySumsResponse, error) {
		return f.source.Sums(ctx, &pb.CopySumsRequest{Lease: lease, File: t.index})
	})
	if err != nil {
		return nil, err
	}
	if got, want := len(reply.GetSums()), pieces(t.GetSize()); got != want {
		return nil, fault.Newf(fault.Invalid, fillOp, "the source gives %d checksums of %s, which has %d pieces", got, t.GetName(), want)
	}
	f.advanced()
	return reply.GetSums(), nil
}

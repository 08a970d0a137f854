package copying

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/barrels/barreltest"
	"adshard/barrels/rocks"
	"adshard/fault"
	"adshard/schema/pb"
)

// dying is a source that a test can replace or take away before each call.
type dying struct {
	pb.UnimplementedCopiesServer
	now   atomic.Pointer[Source] // nil while the source is away
	calls atomic.Int64
	each  func(call int)
}

func (d *dying) source() (*Source, error) {
	d.each(int(d.calls.Add(1)) - 1)
	if s := d.now.Load(); s != nil {
		return s, nil
	}
	return nil, fault.Newf(fault.Unavailable, "test", "the source is away")
}

func (d *dying) Open(ctx context.Context, r *pb.OpenCopyRequest) (*pb.OpenCopyResponse, error) {
	s, err := d.source()
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, r)
}

func (d *dying) Sums(ctx context.Context, r *pb.CopySumsRequest) (*pb.CopySumsResponse, error) {
	s, err := d.source()
	if err != nil {
		return nil, err
	}
	return s.Sums(ctx, r)
}

func (d *dying) Read(ctx context.Context, r *pb.ReadCopyRequest) (*pb.ReadCopyResponse, error) {
	s, err := d.source()
	if err != nil {
		return nil, err
	}
	return s.Read(ctx, r)
}

func (d *dying) Release(ctx context.Context, r *pb.ReleaseCopyRequest) (*pb.ReleaseCopyResponse, error) {
	s, err := d.source()
	if err != nil {
		return nil, err
	}
	return s.Release(ctx, r)
}

// TestTheSourceDiesAtEachStep: after each step the source dies and comes back without its
// checkpoints and with newer data. The copy is correct. If the source stays away, the copy fails
// and can be continued from another source.
func TestTheSourceDiesAtEachStep(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 3)
	steps := 0
	for n := 0; n <= steps; n += 1 + n/4 {
		d := &dying{}
		d.now.Store(r.source())
		d.each = func(call int) {
			if call == n {
				if n%2 == 0 {
					r.advance(r.store.Position().Clock + 1)
				}
				d.now.Store(r.source())
			}
		}
		dir := t.TempDir()
		got := fill(t, config(dir), dial(t, serve(t, d)))
		if steps == 0 {
			steps = int(d.calls.Load())
		}
		check(t, dir, got.Contents.Position.Clock)
	}
	d := &dying{}
	d.now.Store(r.source())
	d.each = func(call int) {
		if call == 4 {
			d.now.Store(nil)
		}
	}
	cfg := config(t.TempDir())
	cfg.Patience = 300 * time.Millisecond
	if _, err := Fill(t.Context(), cfg, dial(t, serve(t, d))); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("the source is gone for good: %v", err)
	}
	if rocks.Exists(cfg.Dir) {
		t.Fatal("an incomplete copy is taken for a store")
	}
	got := fill(t, config(cfg.Dir), dial(t, serve(t, r.source())))
	check(t, cfg.Dir, got.Contents.Position.Clock)
}

// TestFlippedOnTheWire: a damaged piece is fetched again. If it arrives damaged every time, the
// copy fails.
func TestFlippedOnTheWire(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 3)
	address := serve(t, r.source())
	flip := func(m *pb.ReadCopyResponse) {
		if m != nil && len(m.Data) > 0 {
			m.Data[len(m.Data)/2] ^= 4
		}
	}
	var seen sync.Map
	client := &tampered{CopiesClient: dial(t, address), read: func(q *pb.ReadCopyRequest, m *pb.ReadCopyResponse, err error) (*pb.ReadCopyResponse, error) {
		if _, again := seen.LoadOrStore([2]uint32{q.File, q.Piece}, true); !again {
			flip(m)
		}
		return m, err
	}}
	dir := t.TempDir()
	fill(t, config(dir), client)
	check(t, dir, 3)
	client.read = func(q *pb.ReadCopyRequest, m *pb.ReadCopyResponse, err error) (*pb.ReadCopyResponse, error) {
		if q.File == 1 {
			flip(m)
		}
		return m, err
	}
	dir = t.TempDir()
	if _, err := Fill(t.Context(), config(dir), client); !fault.Is(err, fault.Corrupt) || rocks.Exists(dir) {
		t.Fatalf("always damaged: %v", err)
	}
}

// TestFlippedOnTheSourcesDisk: damage is detected before the copy replaces existing data, and
// nothing of the copy is reused.
func TestFlippedOnTheSourcesDisk(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 3)
	address := serve(t, r.source())
	dir := t.TempDir()
	fill(t, config(dir), dial(t, address))
	r.advance(4)
	client := &tampered{CopiesClient: dial(t, address), open: func(m *pb.OpenCopyResponse, err error) (*pb.OpenCopyResponse, error) {
		if err == nil {
			spoilLargest(t, filepath.Join(r.dir, checkpointsDir))
		}
		return m, err
	}}
	if _, err := Fill(t.Context(), config(dir), client); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "slave-0") {
		t.Fatalf("the source's file is damaged: %v", err)
	}
	if _, err := os.Stat(rocks.Incoming(dir)); !os.IsNotExist(err) {
		t.Errorf("damaged files are kept: %v", err)
	}
	check(t, dir, 3)
}

// spoilLargest flips a byte of the largest table file in a directory.
func spoilLargest(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.sst"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	largest, size := "", int64(-1)
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && info.Size() > size {
			largest, size = f, info.Size()
		}
	}
	spoil(t, largest, size/2)
}

func spoil(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x55
	if _, err := f.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedMeanwhile: when a copy continues, the files that are already in the directory are
// compared with the source, byte by byte.
func TestDamagedMeanwhile(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 3)
	address := serve(t, r.source())
	dir := t.TempDir()
	client := &tampered{CopiesClient: dial(t, address), before: func(call int) error {
		if call == 8 {
			return io.ErrUnexpectedEOF
		}
		return nil
	}}
	if _, err := Fill(t.Context(), config(dir), client); err == nil {
		t.Fatal("it was not interrupted")
	}
	entries, err := os.ReadDir(rocks.Incoming(dir))
	if err != nil {
		t.Fatal(err)
	}
	spoiled := 0
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Size() > 100 && e.Name() != tokenFile {
			spoil(t, filepath.Join(rocks.Incoming(dir), e.Name()), info.Size()/3)
			spoiled++
		}
	}
	if spoiled == 0 {
		t.Fatalf("nothing to damage in %v", entries)
	}
	for _, name := range []string{"999999.sst", "notes", "sub.part"} { // all of these must be removed
		if err := os.WriteFile(filepath.Join(rocks.Incoming(dir), name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, config(dir), dial(t, address))
	check(t, dir, 3)
}

// TestFullDisk: a copy that does not fit is refused before it begins. A copy during which the disk
// fills up fails. Both continue when there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 3)
	address := serve(t, r.source())
	disk := barreltest.SmallDisk(t, "32m")
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 30<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(disk, "copy")
	client := &tampered{CopiesClient: dial(t, address)}
	if _, err := Fill(t.Context(), config(dir), client); !fault.Is(err, fault.NoSpace) {
		t.Fatalf("it does not fit: %v", err)
	}
	if n := client.calls.Load(); n > 2 { // opened and released
		t.Errorf("%d calls for a copy that does not fit", n)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	client.read = func(_ *pb.ReadCopyRequest, m *pb.ReadCopyResponse, err error) (*pb.ReadCopyResponse, error) {
		once.Do(func() { _ = os.WriteFile(ballast, make([]byte, 32<<20), 0o600) }) // fills the disk
		return m, err
	}
	if _, err := Fill(t.Context(), config(dir), client); !fault.Is(err, fault.NoSpace) {
		t.Fatalf("the disk ran full: %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	fill(t, config(dir), dial(t, address))
	check(t, dir, 3)
}

// TestTheSourcesDiskIsShort: when the source's disk is almost full, no checkpoint is made and
// existing ones are given up.
func TestTheSourcesDiskIsShort(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 3)
	r.cfg.Room = 1 << 60
	source := r.source()
	cfg := config(t.TempDir())
	if _, err := Fill(t.Context(), cfg, dial(t, serve(t, source))); !fault.Is(err, fault.NoSpace) {
		t.Fatalf("no room for a checkpoint: %v", err)
	}
	source.cfg.Room = 1
	if _, err := source.Open(t.Context(), openRequest("0123456789abcdef")); err != nil {
		t.Fatal(err)
	}
	source.cfg.Room = 1 << 60
	source.sweep(time.Now())
	if n, _ := source.State(); n != 0 {
		t.Fatal("a checkpoint is held on a disk that is short of room")
	}
}

// oneWay is a network link whose direction towards the client can be cut.
type oneWay struct {
	cut atomic.Bool
}

// link forwards connections to `address` and returns its own address.
func (o *oneWay) link(t *testing.T, address string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var parts sync.WaitGroup
	var open sync.Map
	t.Cleanup(func() {
		_ = l.Close()
		open.Range(func(c, _ any) bool { _ = c.(net.Conn).Close(); return true })
		parts.Wait()
	})
	parts.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", address)
			if err != nil {
				_ = in.Close()
				continue
			}
			open.Store(in, nil)
			open.Store(out, nil)
			parts.Go(func() { _, _ = io.Copy(out, in); _ = out.Close() })
			parts.Go(func() { o.back(in, out) })
		}
	})
	return l.Addr().String()
}

// back forwards data from the source. While the link is cut it waits, because TCP would retransmit
// the data later.
func (o *oneWay) back(in, out net.Conn) {
	defer in.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := out.Read(buf)
		if err != nil {
			return
		}
		for o.cut.Load() {
			time.Sleep(time.Millisecond)
		}
		if _, err := in.Write(buf[:n]); err != nil {
			return
		}
	}
}

// TestALinkThatIsCutOneWay: calls end at their deadline, and the copy continues when the link is
// restored.
func TestALinkThatIsCutOneWay(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 3)
	var link oneWay
	client := &tampered{CopiesClient: dial(t, link.link(t, serve(t, r.source())))}
	var late atomic.Int64
	client.read = func(_ *pb.ReadCopyRequest, m *pb.ReadCopyResponse, err error) (*pb.ReadCopyResponse, error) {
		if fault.Is(err, fault.Deadline) && late.Add(1) == 3 {
			link.cut.Store(false)
		}
		return m, err
	}
	client.before = func(call int) error {
		if call == 6 {
			link.cut.Store(true)
		}
		return nil
	}
	cfg := config(t.TempDir())
	cfg.CallTimeout = 500 * time.Millisecond
	fill(t, cfg, client)
	if late.Load() < 3 {
		t.Errorf("%d calls ended at their deadline", late.Load())
	}
	check(t, cfg.Dir, 3)
}

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// late delays each read, write and sync of a slave's disk. Reads of data that the system caches are not delayed.
type late struct {
	on
	by time.Duration
}

func slowDisk(dice *rand.Rand, _ *schedule) fault {
	return late{on{pick(dice, slaveNames())}, pick(dice, []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond})}
}

func (f late) String() string     { return fmt.Sprintf("%s by %v", f.on, f.by) }
func (f late) do(g *grid) error   { g.brakes[f.on[0]].Store(int64(f.by)); return nil }
func (f late) undo(g *grid) error { g.brakes[f.on[0]].Store(0); return nil }

// brake is the delay of each operation on a disk, in nanoseconds.
type brake struct{ atomic.Int64 }

func noFUSE(m machine) string {
	if m.fuse {
		return ""
	}
	return "the right to mount disks, and FUSE"
}

// slowable returns the slaves whose disks are slow at some time.
func (s *schedule) slowable() (list []string) {
	for _, st := range s.steps {
		if f, ok := st.fault.(late); ok && !slices.Contains(list, f.on[0]) {
			list = append(list, f.on[0])
		}
	}
	return list
}

// brakeDisks makes some slaves use their disks through this process, if this machine allows it. Other faults still
// use the disks directly.
func (g *grid) brakeDisks(slaves []string) {
	if !g.disks {
		return
	}
	brakes := make(map[string]*brake)
	for _, name := range slaves {
		b := new(brake)
		server, err := b.mount(filepath.Join(g.dir, name), g.through(name))
		if err != nil {
			g.t.Logf("no disk can be slow: %v", err)
			return
		}
		g.t.Cleanup(func() {
			if err := server.Unmount(); err != nil {
				g.t.Error(err)
			}
		})
		brakes[name] = b
	}
	g.brakes = brakes
}

// through returns the path by which a slave uses its disk if that can be slow.
func (g *grid) through(name string) string { return filepath.Join(g.dir, "through-"+name) }

// slowNode is a file or directory of a disk that can be slow.
type slowNode struct {
	*fs.LoopbackNode
	brake *brake
}

// mount mounts a directory at another path, where the brake delays operations.
func (b *brake) mount(dir, at string) (*fuse.Server, error) {
	var st syscall.Stat_t
	if err := syscall.Stat(dir, &st); err != nil {
		return nil, err
	}
	root := &slowNode{&fs.LoopbackNode{RootData: &fs.LoopbackRoot{Path: dir, Dev: st.Dev}}, b}
	root.RootData.RootNode = root
	if err := syscall.Mkdir(at, 0o755); err != nil {
		return nil, err
	}
	// Files that other faults change meanwhile must not be cached.
	return fs.Mount(at, root, &fs.Options{MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: "slow", Name: "faults"}})
}

// WrapChild implements fs.NodeWrapChilder.
func (n *slowNode) WrapChild(_ context.Context, child fs.InodeEmbedder) fs.InodeEmbedder {
	return &slowNode{child.(*fs.LoopbackNode), n.brake}
}

// Open implements fs.NodeOpener.
func (n *slowNode) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	f, answer, err := n.LoopbackNode.Open(ctx, flags)
	return n.slow(f), answer, err
}

// Create implements fs.NodeCreater.
func (n *slowNode) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	node, f, answer, err := n.LoopbackNode.Create(ctx, name, flags, mode, out)
	return node, n.slow(f), answer, err
}

func (n *slowNode) slow(f fs.FileHandle) fs.FileHandle {
	if file, ok := f.(*fs.LoopbackFile); ok {
		return &slowFile{file, n.brake}
	}
	return f
}

// slowFile is an open file of such a disk.
type slowFile struct {
	*fs.LoopbackFile
	brake *brake
}

func (f *slowFile) wait() { time.Sleep(time.Duration(f.brake.Load())) }

// PassthroughFd implements fs.FilePassthroughFder. It returns false, or the kernel would read and write the
// underlying file directly.
func (*slowFile) PassthroughFd() (int, bool) { return -1, false }

// Read implements fs.FileReader.
func (f *slowFile) Read(ctx context.Context, into []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	f.wait()
	return f.LoopbackFile.Read(ctx, into, at)
}

// Write implements fs.FileWriter.
func (f *slowFile) Write(ctx context.Context, text []byte, at int64) (uint32, syscall.Errno) {
	f.wait()
	return f.LoopbackFile.Write(ctx, text, at)
}

// Fsync implements fs.FileFsyncer.
func (f *slowFile) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	f.wait()
	return f.LoopbackFile.Fsync(ctx, flags)
}

// slowed checks that a disk is slow while it is braked, and not otherwise.
func slowed(t *testing.T) {
	if os.Getenv(inside) == "" {
		t.Skip("it needs the right to mount disks")
	}
	dir, at := t.TempDir(), filepath.Join(t.TempDir(), "through")
	b := new(brake)
	server, err := b.mount(dir, at)
	if err != nil {
		t.Skip("it needs FUSE: ", err)
	}
	defer func() {
		if err := server.Unmount(); err != nil {
			t.Error(err)
		}
	}()
	const by = 300 * time.Millisecond
	for i, delay := range []time.Duration{0, by, 0} {
		b.Store(int64(delay))
		name, began := fmt.Sprint("file-", i), time.Now()
		if err := os.WriteFile(filepath.Join(at, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < delay {
			t.Errorf("a write took %v, with a brake of %v", took, delay)
		}
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != name {
			t.Errorf("beneath there is %q, %v", text, err)
		}
	}
}

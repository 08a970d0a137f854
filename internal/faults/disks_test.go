package faults

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// diskSize is the size of a slave's disk, in memory: there must be room for copies of stores.
const diskSize = "512m"

// mount gives each slave a disk of its own, if this machine allows it.
func (g *grid) mount() bool {
	if os.Getenv(inside) == "" {
		return false
	}
	for _, name := range append(slaveNames(), spare) {
		dir := filepath.Join(g.dir, name)
		if os.MkdirAll(dir, 0o755) != nil || disk(dir) != nil {
			return false
		}
		g.t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	}
	return true
}

func disk(dir string) error { return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+diskSize) }

func noDisks(m machine) string {
	if m.disks {
		return ""
	}
	return "the right to mount disks"
}

// full fills the disk of a slave.
type full struct{ on }

func fullDisk(dice *rand.Rand, _ *schedule) fault { return full{on{pick(dice, slaveNames())}} }

func (f full) file(g *grid) string { return filepath.Join(g.dir, f.on[0], "ballast") }

func (f full) do(g *grid) error {
	file, err := os.Create(f.file(g))
	if err != nil {
		return err
	}
	defer file.Close()
	for chunk := make([]byte, 64<<10); err == nil; {
		_, err = file.Write(chunk)
	}
	if errors.Is(err, syscall.ENOSPC) {
		return nil
	}
	return err
}

func (f full) undo(g *grid) error { return os.Remove(f.file(g)) }

// readOnly makes all writes to the disk of a slave fail, as a kernel does after a disk error. The slave ends, at the
// latest in undo: its files stay open for writing, which keeps the disk from being remounted.
type readOnly struct{ on }

func readOnlyDisk(dice *rand.Rand, _ *schedule) fault { return readOnly{on{pick(dice, slaveNames())}} }

func (f readOnly) do(g *grid) error {
	p := g.part(f.on[0])
	g.down(p)
	defer g.up(p)
	return f.remount(g, syscall.MS_RDONLY)
}

func (f readOnly) undo(g *grid) error { return f.remount(g, 0) }

// remount retries while the disk is busy: on a disk that can be slow, files stay open for a moment after their process has ended.
func (f readOnly) remount(g *grid, flags uintptr) (err error) {
	for range 100 {
		if err = syscall.Mount("", filepath.Join(g.dir, f.on[0]), "", syscall.MS_REMOUNT|flags, ""); !errors.Is(err, syscall.EBUSY) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// lost takes the disk of a slave away while it runs, and gives it an empty one.
type lost struct{ on }

func lostDisk(dice *rand.Rand, _ *schedule) fault { return lost{on{pick(dice, slaveNames())}} }

func (f lost) do(g *grid) error {
	return syscall.Unmount(filepath.Join(g.dir, f.on[0]), syscall.MNT_DETACH)
}

func (f lost) undo(g *grid) error {
	p := g.part(f.on[0])
	dir := filepath.Join(g.dir, f.on[0])
	g.down(p)
	defer g.up(p)
	return disk(dir) // over whatever the slave has created there
}

package server

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Memory returns the memory of the process and all its children, in bytes; shared memory counts
// once. It needs Linux.
func (p *Process) Memory() (uint64, error) {
	below, err := children()
	if err != nil {
		return 0, err
	}
	sum := uint64(0)
	for todo := []int{p.cmd.Process.Pid}; len(todo) > 0; {
		pid := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], below[pid]...)
		n, err := proportional(pid)
		if err != nil && !ended(err) {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// children returns the children of each process.
func children() (map[int][]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	of := make(map[int][]int)
	for _, name := range stats {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// The second field is a name in brackets that may contain anything; the parent is the fourth
		// field.
		fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if len(fields) > 1 {
			parent, _ := strconv.Atoi(string(fields[1]))
			of[parent] = append(of[parent], pid)
		}
	}
	return of, nil
}

// ended reports whether an error says that a process no longer exists.
func ended(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

// proportional returns the memory that a process holds for itself plus its share of shared
// memory.
func proportional(pid int) (uint64, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "Pss:"); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
			return n << 10, err
		}
	}
	if lines.Err() != nil {
		return 0, lines.Err()
	}
	return 0, fmt.Errorf("%s does not contain the memory", f.Name())
}

// DiskOf returns the size of a directory on disk, in bytes.
func DiskOf(dir string) (uint64, error) {
	sum := uint64(0)
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += uint64(info.Size())
		}
		return err
	})
	return sum, err
}

package measure

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// CPUTime is what this process has used of all cores, in user and kernel mode.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Memory is what a process holds, in bytes.
type Memory struct {
	// Resident is in memory; Anonymous is the part of it that is not pages of
	// files, which the system may drop.
	Resident, Anonymous uint64
}

// MemoryOf reads what a process holds; 0 stands for this one. It needs Linux.
func MemoryOf(pid int) (Memory, error) {
	if pid == 0 {
		pid = os.Getpid()
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, err
	}
	defer f.Close()
	var m Memory
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		n, _ := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
		switch name {
		case "VmRSS":
			m.Resident = n << 10
		case "RssAnon":
			m.Anonymous = n << 10
		}
	}
	return m, lines.Err()
}

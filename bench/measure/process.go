package measure

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// CPUTime returns the time that this process has used of all cores, in user
// and kernel mode.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// ticks is the unit in which Linux counts processor time for other processes:
// a hundredth of a second on all its platforms.
const ticks = time.Second / 100

// CPUTimeOf returns the time that a process has used of all cores since it
// began. It needs Linux.
func CPUTimeOf(pid int) (time.Duration, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The second field is a name in brackets that may contain anything. User and
	// kernel time are the 14th and the 15th field.
	at := bytes.LastIndexByte(raw, ')')
	fields := bytes.Fields(raw[at+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat is not as expected", pid)
	}
	var sum time.Duration
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * ticks
	}
	return sum, nil
}

// Memory is the memory of a process, in bytes.
type Memory struct {
	// Resident is the memory of the process that is in RAM. Anonymous is the part
	// of it that is not pages of files; the system may drop those.
	Resident, Anonymous uint64
	// Peak is the largest value that Resident ever had.
	Peak uint64
}

// MemoryOf reads the memory of a process; 0 stands for this one. It needs
// Linux.
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
		case "VmHWM":
			m.Peak = n << 10
		case "RssAnon":
			m.Anonymous = n << 10
		}
	}
	return m, lines.Err()
}

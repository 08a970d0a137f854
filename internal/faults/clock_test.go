package faults

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

// shift makes the wall clock of a process jump by an hour while it runs, and back. This needs a program built by
// deploy/faults.sh, whose package time adds a variable to the system's time. The fault writes that variable from
// outside.
type shift struct {
	on
	by time.Duration
}

// shiftSymbol is the name of the variable, an int64 in seconds.
const shiftSymbol = "time.wallShift"

func noShift(m machine) string {
	if m.clock {
		return ""
	}
	return "a build by deploy/faults.sh"
}

// shiftable reports whether this program's clock can be shifted.
func shiftable() bool {
	_, err := shiftAddress(os.Getpid())
	return err == nil
}

func shiftedClock(dice *rand.Rand, _ *schedule) fault {
	return shift{on{pick(dice, allNames())}, pick(dice, []time.Duration{-time.Hour, time.Hour})}
}

func (f shift) String() string     { return fmt.Sprintf("%s by %v", f.on, f.by) }
func (f shift) do(g *grid) error   { return f.set(g, f.by) }
func (f shift) undo(g *grid) error { return f.set(g, 0) }

// set waits if the part is being restarted.
func (f shift) set(g *grid, by time.Duration) error {
	var err error
	if late := g.eventually("the clock is shifted", func() bool {
		err = shiftClock(g.part(f.on[0]).Pid(), by)
		return err == nil
	}); late != nil {
		return fmt.Errorf("%w: %w", late, err)
	}
	return nil
}

func shiftClock(pid int, by time.Duration) error {
	at, err := shiftAddress(pid)
	if err != nil {
		return err
	}
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close()
	_, err = memory.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(int64(by/time.Second))), at)
	return err
}

// shiftAddress returns the address of the variable in a process.
func shiftAddress(pid int) (int64, error) {
	program, err := elf.Open(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return 0, err
	}
	defer program.Close()
	symbols, err := program.Symbols()
	if err != nil {
		return 0, err
	}
	for _, s := range symbols {
		if s.Name == shiftSymbol {
			return int64(s.Value), nil
		}
	}
	return 0, errors.New("this program's clock cannot be shifted")
}

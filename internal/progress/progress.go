// Package progress shows the progress of long work: on a terminal in one line that is redrawn, elsewhere in a line
// from time to time.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

const (
	// redrawEvery and logEvery are the shortest times between two reports of one step, on a terminal and elsewhere.
	redrawEvery = 100 * time.Millisecond
	logEvery    = 10 * time.Second
	// estimateAfter is how long a step must run before its remaining time is shown.
	estimateAfter = 5 * time.Second

	clearLine = "\r\x1b[K"
)

// Line shows the present step. Several goroutines may call its methods.
type Line struct {
	out      io.Writer // nil if nothing is shown
	terminal bool

	mu    sync.Mutex
	step  string
	began time.Time // when the step began
	drawn time.Time // when the last report was shown
}

// New returns a Line on out. If out is not a terminal, the Line writes one line for each new step, and then one every
// ten seconds.
func New(out io.Writer) *Line { return &Line{out: out, terminal: IsTerminal(out)} }

// OnTerminal is like New for work that is silent unless a person is watching: the Line shows nothing if out is not a
// terminal.
func OnTerminal(out io.Writer) *Line {
	if !IsTerminal(out) {
		return &Line{}
	}
	return New(out)
}

// IsTerminal reports whether out is a terminal.
func IsTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Show reports the present step. detail, if not "", changes within the step. It is left out of the line that a log
// gets for a new step.
func (l *Line) Show(step, detail string) {
	l.report(step, func(elapsed time.Duration) string {
		if detail == "" || elapsed == 0 && !l.terminal {
			return step
		}
		return step + "; " + detail
	})
}

// Share reports that a share of the step, 0 to 1, is done. A negative share only reports that the step is running.
func (l *Line) Share(step string, done float64) {
	l.report(step, func(elapsed time.Duration) string {
		if done < 0 {
			return step
		}
		return fmt.Sprintf("%s: %.0f %%%s", step, 100*done, left(elapsed, done))
	})
}

// Count reports that `done` of `total` is done; a total of 0 is unknown. amount returns a number with its unit.
func (l *Line) Count(step string, done, total uint64, amount func(uint64) string) {
	l.report(step, func(elapsed time.Duration) string {
		if total == 0 {
			return fmt.Sprintf("%s: %s", step, amount(done))
		}
		share := float64(done) / float64(total)
		return fmt.Sprintf("%s: %.0f %%, %s of %s%s", step, 100*share, amount(done), amount(total), left(elapsed, share))
	})
}

// left returns how long the rest of a step will take at the present rate, as text.
func left(elapsed time.Duration, done float64) string {
	if elapsed < estimateAfter || done <= 0 || done >= 1 {
		return ""
	}
	rest := time.Duration(float64(elapsed) * (1 - done) / done)
	return fmt.Sprintf(", %v left", rest.Round(time.Second))
}

// report writes the text that the function text returns for how long the step has run, unless the step was reported a
// moment ago.
func (l *Line) report(step string, text func(elapsed time.Duration) string) {
	if l.out == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	every := logEvery
	if l.terminal {
		every = redrawEvery
	}
	now := time.Now()
	if step != l.step || l.drawn.IsZero() {
		l.step, l.began = step, now
	} else if now.Sub(l.drawn) < every {
		return
	}
	l.drawn = now
	// Work continues if the terminal is gone.
	if l.terminal {
		fmt.Fprint(l.out, clearLine, text(now.Sub(l.began)))
	} else {
		fmt.Fprintln(l.out, text(now.Sub(l.began)))
	}
}

// End clears the line on the terminal. The Line may be used again.
func (l *Line) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.terminal && !l.drawn.IsZero() {
		fmt.Fprint(l.out, clearLine)
	}
	l.step, l.drawn = "", time.Time{}
}

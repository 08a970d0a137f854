package cli

import (
	"fmt"
	"io"
)

// teller says how far long work is: on a terminal in one line that changes,
// elsewhere one line for each step.
type teller struct {
	out   io.Writer
	drawn bool
	last  string
}

func newTeller(out io.Writer) *teller { return &teller{out: out, drawn: onTerminal(out)} }

// tell says which step it is at, and more that changes too often for a line.
func (t *teller) tell(step, more string) {
	if t.drawn {
		if more != "" {
			step += "; " + more
		}
		fmt.Fprintf(t.out, "\r\x1b[K%s", printable(step))
		return
	}
	if step != t.last {
		fmt.Fprintln(t.out, printable(step))
	}
	t.last = step
}

// end clears the line.
func (t *teller) end() {
	if t.drawn {
		fmt.Fprint(t.out, "\r\x1b[K")
	}
}

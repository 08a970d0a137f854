package bench

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// progress tells people how far long work has come: on a terminal in one line
// that is written again, else a line now and then.
type progress struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	what     string
	last     time.Time
}

func newProgress(out io.Writer) *progress {
	f, ok := out.(*os.File)
	return &progress{out: out, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// show says how far what is, 0 to 1; below 0: that it is under way.
func (p *progress) show(what string, done float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	often := 10 * time.Second
	if p.terminal {
		often = 200 * time.Millisecond
	}
	if now := time.Now(); what != p.what || now.Sub(p.last) >= often {
		p.what, p.last = what, now
		p.write(what, done)
	}
}

func (p *progress) write(what string, done float64) {
	text := what
	if done >= 0 {
		text = fmt.Sprintf("%s: %.0f %%", what, 100*done)
	}
	if p.terminal {
		fmt.Fprintf(p.out, "\r\033[K%s", text)
		return
	}
	fmt.Fprintln(p.out, text)
}

// end leaves the terminal's line.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal && p.what != "" {
		fmt.Fprint(p.out, "\r\033[K")
	}
	p.what = ""
}

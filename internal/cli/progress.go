package cli

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows how far long work has come; silent unless its writer is a
// terminal.
type progress struct {
	out  io.Writer
	bar  *progressbar.ProgressBar
	what string
}

func newProgress(out io.Writer) *progress {
	if onTerminal(out) {
		return &progress{out: out}
	}
	return &progress{}
}

// show says that done of total (0: not known) of what is done; bytes tells
// whether these are bytes.
func (p *progress) show(what string, done, total int64, bytes bool) {
	if p.out == nil {
		return
	}
	if total <= 0 {
		total = -1
	}
	if p.bar == nil || p.what != what {
		p.end()
		p.what = what
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription(what),
			progressbar.OptionShowBytes(bytes), progressbar.OptionShowCount(), progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	_ = p.bar.Set64(done) // a terminal that is gone does not stop the work
}

// end clears the bar.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}

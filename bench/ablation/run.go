package ablation

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"adshard/bench/paired"
	"adshard/fault"
)

// Plan is what is measured.
type Plan struct {
	// Source is the directory of the module, Dir where programs and results lie.
	Source, Dir string
	Ideas       []Idea
	// Rounds is how often each variant has its turn.
	Rounds int
	// Arguments of adbench search, without --layouts and --json.
	Arguments []string
	// Progress is told what is being done and how far all is, 0 to 1.
	Progress func(what string, done float64)
	// Round is called after each round with what there is so far.
	Round func(*Result) error
}

// Full is the name of the product as it is.
const Full = "full"

// Result is what was measured: by variant, the results of its turns, round after
// round. Ideas are those of the plan.
type Result struct {
	Ideas []Idea
	Turns map[string][]*paired.Result
}

// layoutsMeasured are asked in each process, the floor as the measure of the
// machine.
const layoutsMeasured = "floor,served,served-top"

// Run builds a program for the product as it is and for each idea, and measures
// them in turns.
func Run(ctx context.Context, p *Plan) (*Result, error) {
	variants := append([]Idea{{Name: Full}}, p.Ideas...)
	overlays := make([]string, len(variants))
	for i := range variants { // before any is built, which takes its time
		var err error
		if overlays[i], err = variants[i].Overlay(p.Source, p.Dir); err != nil {
			return nil, err
		}
	}
	all := float64(len(variants) * (p.Rounds + 1))
	done := 0
	for i := range variants {
		p.Progress("building "+variants[i].Name, float64(done)/all)
		if err := p.build(ctx, &variants[i], overlays[i]); err != nil {
			return nil, err
		}
		done++
	}
	r := &Result{Ideas: p.Ideas, Turns: make(map[string][]*paired.Result)}
	for round := range p.Rounds {
		for _, i := range order(len(variants), round) {
			v := &variants[i]
			p.Progress(fmt.Sprintf("round %d of %d: %s", round+1, p.Rounds, v.Name), float64(done)/all)
			turn, err := p.turn(ctx, v, round)
			if err != nil {
				return nil, err
			}
			r.Turns[v.Name] = append(r.Turns[v.Name], turn)
			done++
		}
		if err := p.Round(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// order is another one in each round: it begins elsewhere, and goes backwards in
// every second one.
func order(n, round int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = (i + round*(n/2+1)) % n
	}
	if round%2 == 1 {
		slices.Reverse(out)
	}
	return out
}

func (p *Plan) program(i *Idea) string { return filepath.Join(p.Dir, "adbench-"+i.Name) }

func (p *Plan) build(ctx context.Context, i *Idea, overlay string) error {
	program, err := filepath.Abs(p.program(i))
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-overlay", overlay, "-o", program, "./cmd/adbench")
	c.Dir = p.Source
	return told(i, c)
}

// turn measures a variant once.
func (p *Plan) turn(ctx context.Context, i *Idea, round int) (*paired.Result, error) {
	out := filepath.Join(p.Dir, fmt.Sprintf("%s-%d.json", i.Name, round))
	arguments := append([]string{"search", "--layouts", layoutsMeasured, "--json", out}, p.Arguments...)
	c := exec.CommandContext(ctx, p.program(i), arguments...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	if err := told(i, c); err != nil {
		return nil, err
	}
	return paired.Join(out)
}

// told runs a command; an error has what it said.
func told(i *Idea, c *exec.Cmd) error {
	if out, err := c.CombinedOutput(); err != nil {
		return fault.Newf(fault.Internal, "ablation: "+i.Name, "%s: %v\n%s", c, err, out)
	}
	return nil
}

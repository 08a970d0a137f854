package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adshard/bench/ablation"
	"adshard/bench/measure"
	"adshard/bench/outfile"
)

// ablationFlags are the flags of `adbench ablation`.
type ablationFlags struct {
	setFlags
	source, out   string
	keywords      int64
	ideas, setups []string
	seconds       float64
	rounds        int
	pairsAbove    int
}

// AblationCommand returns the subcommand ablation, which measures what each idea
// of the product's search brings.
func AblationCommand() *cobra.Command {
	var f ablationFlags
	c := &cobra.Command{
		Use:   "ablation [--source DIR] [--out FILE]",
		Short: "Measure what each idea of the search brings",
		Long: `Builds the program anew for each idea of the product's search with that one
switched off (other words in its source, by the Go tool's overlay), and measures
all in turns, each in a process of its own, the limit of the hardware beside it.
Writes a Markdown table, after each round what there is by then. All give the
same answers, or the run fails. Ideas:
` + ideaHelp(),
		Example: `  adbench ablation --keywords 1000000 --rounds 5 --out docs/experiments/ablation.md
  adbench ablation --ideas signatures,norms --setups log,hot`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.source, "source", ".", "directory of this program's source")
	flags.StringVar(&f.out, "out", "", "write the table to this file; \"\": show it at the end")
	flags.Int64Var(&f.keywords, "keywords", 1_000_000, "number of keywords")
	flags.StringSliceVar(&f.ideas, "ideas", []string{"all"}, "ideas to switch off, see above, or all")
	flags.StringSliceVar(&f.setups, "setups", []string{"log", "hot"}, "what is asked, as adbench search has it")
	flags.Float64Var(&f.seconds, "seconds", 3, "how long a layout is asked on a setup in one turn")
	flags.IntVar(&f.rounds, "rounds", 5, "how often each variant has its turn")
	flags.IntVar(&f.pairsAbove, "pairs-above", 1000, "an anchor of more keywords than this would be split into pairs of words")
	f.setFlags.flags(flags)
	return c
}

func ideaHelp() string {
	var b strings.Builder
	for _, i := range ablation.Ideas() {
		fmt.Fprintf(&b, "  %-11s %s; instead: %s\n", i.Name, i.What, i.Instead)
	}
	return b.String()
}

func (f *ablationFlags) check(c *cobra.Command, args []string) error {
	switch {
	case f.keywords < 1 || f.keywords > 100_000_000:
		return fmt.Errorf("--keywords %d: 1 to 100,000,000", f.keywords)
	case f.seconds <= 0 || f.seconds > 3600:
		return fmt.Errorf("--seconds %g: more than 0, up to an hour", f.seconds)
	case f.rounds < 1 || f.rounds > 100:
		return fmt.Errorf("--rounds %d: 1 to 100; 5 or more show a spread", f.rounds)
	case f.queries < 1 || f.queries > 1_000_000:
		return fmt.Errorf("--query-count %d: 1 to 1,000,000", f.queries)
	case f.pairsAbove < 0:
		return fmt.Errorf("--pairs-above %d: 0 or more keywords", f.pairsAbove)
	}
	if _, err := f.maker(); err != nil {
		return err
	}
	if _, err := f.chosen(); err != nil {
		return err
	}
	if _, err := setupNames(f.setups); err != nil {
		return err
	}
	if err := outfile.Check(nil, outfile.Output{Flag: "--out", Path: f.out}); err != nil {
		return err
	}
	return cobra.NoArgs(c, args)
}

// chosen are the ideas that the flags name.
func (f *ablationFlags) chosen() (out []ablation.Idea, err error) {
	all := ablation.Ideas()
	for _, name := range f.ideas {
		if name == "all" {
			return all, nil
		}
		found := false
		for _, i := range all {
			if i.Name == name {
				out, found = append(out, i), true
			}
		}
		if !found {
			return nil, fmt.Errorf("--ideas: there is no idea %q; there are:\n%s", name, ideaHelp())
		}
	}
	return out, nil
}

func (f *ablationFlags) run(ctx context.Context, out, told io.Writer) (err error) {
	p := newProgress(told)
	defer p.end()
	dir, remove, err := f.directory()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	pairs, err := f.pairs(ctx, dir, p)
	if err != nil {
		return err
	}
	programs, err := os.MkdirTemp(dir, "ablation-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(programs)) }()
	ideas, err := f.chosen()
	if err != nil {
		return err
	}
	plan := &ablation.Plan{
		Source: f.source, Dir: programs, Ideas: ideas, Rounds: f.rounds, Arguments: f.arguments(dir), Progress: p.show,
		Round: func(r *ablation.Result) error {
			return writeTo(f.out, func(w io.Writer) error { return f.page(w, r, pairs) })
		},
	}
	result, err := ablation.Run(ctx, plan)
	if err != nil || f.out != "" {
		return err
	}
	p.end()
	return f.page(out, result, pairs)
}

// arguments are those of adbench search.
func (f *ablationFlags) arguments(dir string) []string {
	return []string{
		"--keywords", strconv.FormatInt(f.keywords, 10), "--setups", strings.Join(f.setups, ","),
		"--seconds", strconv.FormatFloat(f.seconds, 'g', -1, 64), "--work", dir, "--set", f.kind, "--data", f.data,
		"--group-keywords", strconv.Itoa(f.perGroup), "--query-count", strconv.Itoa(f.queries),
		"--seed", strconv.FormatUint(f.seed, 10),
	}
}

// pairs counts what pairs as anchors would change, on each setup, as Markdown.
// The keywords are then kept for all turns.
func (f *ablationFlags) pairs(ctx context.Context, dir string, p *progress) (string, error) {
	set, setups, err := f.setOf(ctx, f.keywords, f.setups, dir, p)
	if err != nil {
		return "", err
	}
	p.show("pairs as anchors", -1)
	var b strings.Builder
	for _, s := range setups {
		counted := ablation.CountPairs(set, s.Queries, f.pairsAbove)
		if err := counted.WriteMarkdown(&b, s.Name, set.Len(), f.pairsAbove); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// page writes what was measured.
func (f *ablationFlags) page(w io.Writer, r *ablation.Result, pairs string) error {
	_, err := fmt.Fprintf(w, `# What each idea of the search brings

`+"`make ablation`"+` writes this page; [010](../decisions/010-search-near-the-floor.md) says what the ideas are.
The product's search as it is, then with one idea switched off, each a program of its own that gives the
same answers. A program had %d turns of %g s for each setup, in another order each time; figures are medians
of the turns. "Times as long" compares with the product as it is, each measured by the floor in the same process:
the median of the rounds, with the least and the most. Bytes are empty where they are within 2 %% of the
product's.

    %s

Measured %s on %s.

`, len(r.Turns[ablation.Full]), f.seconds, newReport("ablation").Command, time.Now().UTC().Format(time.DateOnly), measure.Machine())
	if err != nil {
		return err
	}
	if err := r.WriteMarkdown(w); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "## Tried by counting\n\n%s", pairs)
	return err
}

package bench

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adshard/bench/cluster"
	"adshard/bench/hotwriters"
	"adshard/internal/progress"
)

// hotFlags are the flags of `adbench hot`.
type hotFlags struct {
	programs []string
	source   string
	work     workDir
	hotwriters.Config
	output
}

// HotCommand returns the subcommand hot, which measures how soon changes appear in
// the answers while one group is changed all the time.
func HotCommand() *cobra.Command {
	var f hotFlags
	c := &cobra.Command{
		Use:   "hot",
		Short: "Measure how soon changes are in the answers while one group is changed all the time",
		Long: `Measures how long changes of some ad groups take from their commit until answers show
them, while another group (--keywords) is changed --rate times a second: one of its ads
is paused and enabled. Each turn has a database and a cluster of real processes of its own: a balancer,
a master, and --replicas slaves, which hold all data.

Several programs (--adshard NAME=FILE, repeated) are compared in turns. --source builds
four from the product's source: as it is, without isolation (changes of a large group
that was sent a moment ago wait), without batching (a bucket contains a group once,
however often it has changed), and without either.`,
		Example: `  adbench hot --source . --keywords 20,1000,20000
  adbench hot --adshard now=bin/adshard --adshard before=/elsewhere/adshard --turns 5`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.programs, "adshard", nil, "a program adshard, FILE or NAME=FILE, repeated; none: beside this one, or on the path")
	flags.StringVar(&f.source, "source", "", "directory of the product's source, which is built and compared with itself without its techniques")
	flags.IntSliceVar(&f.Keywords, "keywords", []int{20, 1000, 20_000}, "keywords of the hot group; each size is measured by itself")
	flags.Float64Var(&f.Rate, "rate", 1000, "changes of the hot group a second; 0: none")
	flags.IntVar(&f.Others, "others", 4, "other groups that are changed")
	flags.IntVar(&f.Replicas, "replicas", 1, "slaves that hold all data")
	flags.IntVar(&f.Turns, "turns", 5, "turns of each program and size")
	flags.DurationVar(&f.Duration, "duration", 20*time.Second, "how long changes are made in a turn")
	flags.DurationVar(&f.Patience, "patience", 2*time.Minute, "give up when the first fill takes longer")
	flags.DurationVar(&f.Most, "most", 10*time.Second, "wait no longer for a change to be shown; it counts as that long, and its group is changed no more")
	flags.Uint64Var(&f.Seed, "seed", 1, "decides the pauses between changes")
	flags.Var(&f.work, "work", "directory for databases and stores, which are removed at the end; default: that of temporary files")
	f.output.flags(c)
	return c
}

// check rejects invalid flags before a cluster is started.
func (f *hotFlags) check(c *cobra.Command, args []string) error {
	switch {
	case f.source != "" && len(f.programs) > 0:
		return errors.New("--source and --adshard exclude each other")
	case f.source != "":
		f.Programs = []hotwriters.Program{{Name: "built later"}}
		return errors.Join(f.Validate(), f.output.check(), cobra.NoArgs(c, args))
	case len(f.programs) == 0:
		f.programs = []string{""}
	}
	f.Programs = nil
	for _, p := range f.programs {
		name, file, named := strings.Cut(p, "=")
		if !named {
			name, file = "adshard", p
		}
		path, err := cluster.Program(file)
		if err != nil {
			return err
		}
		f.Programs = append(f.Programs, hotwriters.Program{Name: name, Path: path})
	}
	return errors.Join(f.Validate(), f.output.check(), cobra.NoArgs(c, args))
}

func (f *hotFlags) run(ctx context.Context, out, told io.Writer) (err error) {
	p := progress.New(told)
	defer p.End()
	f.Tell = func(what string) { p.Show(what, "") }
	dir, remove, err := f.work.temporary("adbench-hot")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	f.Dir = dir
	if f.source != "" {
		p.Show("building the programs", "")
		if f.Programs, err = hotwriters.Build(ctx, f.source, f.Dir); err != nil {
			return err
		}
	}
	report := newReport("hot")
	if err := f.Run(ctx, report); err != nil {
		return err
	}
	report.Note("one group changed %g times a second, and %d others in turns with it; %d turns of %v each, medians, and least to most",
		f.Rate, f.Others, f.Turns, f.Duration)
	p.End()
	return f.write(out, report)
}

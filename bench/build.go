package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"adshard/backend/nodedata"
	"adshard/barrels/bulk"
	"adshard/barrels/rocks"
	"adshard/internal/corpus"
	"adshard/internal/outfile"
	"adshard/internal/progress"
	"adshard/search/words"
)

type buildFlags struct {
	out, data string
	options   corpus.Options
	output
}

// BuildCommand returns the subcommand build, which builds the store of a corpus
// for one slave, without a database.
func BuildCommand() *cobra.Command {
	var f buildFlags
	c := &cobra.Command{
		Use:   "build --keywords N --out DIR",
		Short: "Build one slave's store of a corpus, without a database",
		Long: `Builds the store of a slave that has all of a corpus' keywords, offline, without a
file or a database between, and measures how long that takes and how much memory
and disk. While it builds, the directory beside DIR takes several times as much as
the store.`,
		Example: `  adbench build --keywords 100000000 --out huge
  adbench memory --barrels huge --queries queries.txt --memory 16GiB`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := c.Flags()
	flags.Int64Var(&f.options.Keywords, "keywords", 100_000, "number of keywords")
	flags.IntVar(&f.options.PerGroup, "group-keywords", 0, "about how many keywords a group gets, up to 40; 0: 11")
	flags.Uint64Var(&f.options.Seed, "seed", 1, "all follows from it")
	flags.StringVar(&f.out, "out", "", "the store's directory, missing or empty (required)")
	flags.StringVar(&f.data, "data", "", `directory with catalogue/ and queries/; "extract": the built-in extract`)
	f.output.flags(c)
	return c
}

// check rejects invalid flags before anything is made.
func (f *buildFlags) check(c *cobra.Command, args []string) error {
	switch {
	case f.out == "":
		return errors.New("--out is missing: name the directory of the store")
	case f.options.Keywords < 1:
		return fmt.Errorf("--keywords %d: 1 or more", f.options.Keywords)
	case f.options.PerGroup < 0 || f.options.PerGroup > 40:
		return fmt.Errorf("--group-keywords %d: 0 to 40", f.options.PerGroup)
	}
	if err := errors.Join(outfile.CheckDir(f.out, false), f.output.check()); err != nil {
		return err
	}
	return cobra.NoArgs(c, args)
}

func (f *buildFlags) run(ctx context.Context, out, told io.Writer) (err error) {
	files, from := sourceOf(f.data)
	c, err := corpus.Open(files)
	if err != nil {
		return err
	}
	p := progress.New(told)
	defer p.End()
	report := newReport("build")
	begun := time.Now()
	runs, err := rocks.NewRuns(f.out, rocks.Options{})
	if err != nil {
		return err
	}
	b, err := bulk.New(runs, words.Default)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	b.SetBuilder(nodedata.Version)
	m := storeMaker{builder: b, advertisers: make(map[string]uint64), campaigns: make(map[campaignName]uint64)}
	what := fmt.Sprintf("%d keywords from %s", f.options.Keywords, from)
	if err := m.addAll(ctx, c, f.options, func(done float64) { p.Share(what, done) }); err != nil {
		return err
	}
	added := time.Since(begun)
	p.Share("writing the store", -1)
	if err := m.finish(); err != nil {
		return err
	}
	p.End()
	if err := f.figures(report, &m, added, time.Since(begun)); err != nil {
		return err
	}
	return f.write(out, report)
}

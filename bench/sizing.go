package bench

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adshard/bench/grid"
	"adshard/bench/measure"
	"adshard/internal/outfile"
)

// sizingFlags are the flags of `adbench sizing`.
type sizingFlags struct {
	grid, curve, out string
	searches         []string
	cores            int
	output
}

// SizingCommand returns the subcommand sizing, which computes the figures of `adshard
// size`.
func SizingCommand() *cobra.Command {
	var f sizingFlags
	c := &cobra.Command{
		Use:   "sizing --grid FILE --searches FILES --curve FILE --out FILE",
		Short: "Compute the figures of `adshard size` from reports, and compare predictions with measurements",
		Long: `Computes the figures that 'adshard size --figures' reads from reports of this machine:
of 'adbench grid' with 1x1 and 3x1 among the grids, of 'adbench memory' on stores of
several sizes with enough memory, and of 'adbench memory --curve'. All grids of the
report are then compared with what the figures predict for them.

'deploy/grid.sh' makes all these reports.`,
		Example: `  adbench grid --db sqlite:ads.db --queries queries.txt --json grid.json
  adbench memory --barrels small --queries queries.txt --json small.json
  adbench memory --barrels large --queries queries.txt --json large.json
  adbench memory --barrels large --queries queries.txt --curve 30,60,120,250 --json curve.json
  adbench sizing --grid grid.json --searches small.json,large.json --curve curve.json --out figures.json
  adshard size --figures figures.json --keywords 1000000 --qps 500 --memory 16GiB --p99 20ms`,
		Args: func(c *cobra.Command, args []string) error { return errors.Join(f.check(), cobra.NoArgs(c, args)) },
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.OutOrStdout()) },
	}
	flags := c.Flags()
	flags.StringVar(&f.grid, "grid", "", "report of adbench grid (required)")
	flags.StringSliceVar(&f.searches, "searches", nil, "reports of adbench memory, one for each size of the store (required)")
	flags.StringVar(&f.curve, "curve", "", "report of adbench memory --curve (required)")
	flags.StringVar(&f.out, "out", "", "the file of figures (required)")
	flags.IntVar(&f.cores, "cores", runtime.NumCPU(), "cores of the machine that was measured")
	f.output.flags(c)
	return c
}

// check rejects invalid flags before anything is read.
func (f *sizingFlags) check() error {
	if f.grid == "" || f.curve == "" || f.out == "" || len(f.searches) == 0 {
		return errors.New("--grid, --searches, --curve and --out are needed: name the reports, and the file to write")
	}
	if f.cores < 1 {
		return fmt.Errorf("--cores %d: 1 or more", f.cores)
	}
	inputs := append([]string{f.grid, f.curve}, f.searches...)
	return outfile.Check(outfile.Inputs(inputs...), figuresTo(f.out), jsonOf(f.name, f.json))
}

func (f *sizingFlags) run(out io.Writer) (err error) {
	from := grid.Reports{Cores: f.cores}
	if from.Grid, err = measure.ReadFile(f.grid); err != nil {
		return err
	}
	if from.Curve, err = measure.ReadFile(f.curve); err != nil {
		return err
	}
	for _, name := range f.searches {
		r, err := measure.ReadFile(name)
		if err != nil {
			return err
		}
		from.Searches = append(from.Searches, r)
	}
	figures, err := grid.Fit(from)
	if err != nil {
		return err
	}
	figures.Machine, figures.Date = strings.Join(strings.Fields(measure.Machine()), " "), time.Now().UTC().Format(time.DateOnly)
	if err := figuresTo(f.out).WriteJSON(figures); err != nil {
		return err
	}
	report := newReport("sizing")
	report.Commit = from.Grid.Commit
	grid.Compare(report, figures, from, grid.Grids(from.Grid))
	return f.write(out, report)
}

// figuresTo returns the output for the file of figures.
func figuresTo(path string) outfile.Output {
	return outfile.Output{Flag: "--out", Path: path, Kind: outfile.Kind{Name: "a file of figures", Is: outfile.Begins("{\n \"machine\": ")}}
}

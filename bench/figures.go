package bench

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"adshard/bench/figures"
	"adshard/bench/measure"
	"adshard/bench/page"
)

// FiguresCommand returns the subcommand figures, which makes one table from
// the reports of many runs.
func FiguresCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "figures --reports DIR",
		Short: "Make one Markdown table of the reports of many runs",
		Long: `Makes one Markdown table of reports: files GROUP.json or GROUP.N.json that
--json of the other commands wrote, where several of one group are runs of the
same command. deploy/figures.sh does all the runs and then this.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if dir == "" {
				return errors.New("--reports is missing: name the directory of the reports")
			}
			return writeFigures(c.OutOrStdout(), dir)
		},
	}
	c.Flags().StringVar(&dir, "reports", "", "directory of the reports (required)")
	return c
}

func writeFigures(w io.Writer, dir string) error {
	all, err := figures.Read(dir)
	if err != nil {
		return err
	}
	for _, commit := range all.Commits() {
		fmt.Fprintf(w, "<!-- measured: %s -->\n", page.Mark(commit, figures.Measured()))
	}
	fmt.Fprintf(w, "\nMeasured %s on %s.\n\n", time.Now().UTC().Format(time.DateOnly), measure.Machine())
	missed, err := all.Write(w)
	if err == nil && missed > 0 {
		fmt.Fprintf(w, "\n%d targets are missed.\n", missed)
	}
	return err
}

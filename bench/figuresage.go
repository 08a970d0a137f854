package bench

import (
	"github.com/spf13/cobra"

	"adshard/bench/figures"
)

// FiguresAgeCommand returns the subcommand figures-age, which lists the pages
// whose figures are older than what they measure.
func FiguresAgeCommand() *cobra.Command {
	var root string
	c := &cobra.Command{
		Use:   "figures-age [--source DIR]",
		Short: "List the pages whose figures are older than what they measure",
		Long: `Lists the pages below docs/ whose commit is older than the last change of the
packages that they measure, tests and texts aside. A page names both in a line
that ` + "`make figures`" + ` and the commands with --html write:

  <!-- measured: commit 053f128; packages barrels search -->
  <meta name="measured" content="commit 053f128; packages barrels search"/>`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := figures.Ages(c.Context(), root)
			if err != nil {
				return err
			}
			_, err = figures.WriteAges(c.OutOrStdout(), all)
			return err
		},
	}
	c.Flags().StringVar(&root, "source", ".", "the repository")
	return c
}

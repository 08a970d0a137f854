package cluster

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"adshard/internal/cli/apiclient"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/httpapi/api"
)

func balanceStrategyCommand(s cmdline.Streams) *cobra.Command {
	var f apiclient.AdminFlags
	c := &cobra.Command{
		Use:   "strategy [NAME]",
		Short: "List the strategies, or switch to another one",
		Long: `Without NAME, lists the strategies with their options and what each would do now;
those that are for comparison only, or not for this cluster, with --all. With NAME,
switches to that strategy from the next iteration on; options that are not set have their defaults. The
choice survives a restart of the balancer, until the strategy or its options are changed
in its configuration.`,
		Example: `  adshard balance strategy
  adshard balance strategy weighted-move --set move-share=0.05 --set split-at=3`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cmdline.WrongUse("name one strategy; `adshard balance strategy` lists them")
			}
			return nil
		},
	}
	all := c.Flags().Bool("all", false, "list also the options of strategies that are for comparison only, or not for this cluster")
	set := c.Flags().StringArray("set", nil, "set an option of the strategy: OPTION=VALUE; can be repeated")
	c.RunE = func(c *cobra.Command, args []string) error {
		options, err := readOptions(*set)
		switch {
		case err != nil:
			return err
		case len(args) == 0 && len(options) > 0:
			return cmdline.WrongUse("--set needs the name of the strategy; `adshard balance strategy` lists them")
		case len(args) == 0:
			return apiclient.Show(c.Context(), &f, s, "/v1/balance/strategies", nil, func(v *api.StrategyList) error { return showStrategies(s, v, *all) })
		}
		return apiclient.Send(c.Context(), &f, s, "/v1/balance/strategy", api.StrategyRequest{Name: args[0], Options: options},
			func(v *api.StrategyInUse) error {
				_, err := fmt.Fprintf(s.Out, "the strategy is now %s%s; `adshard balance plan` shows what it would do\n",
					terminal.Printable(v.Name), setOptions(v.Options))
				return err
			})
	}
	f.Add(c)
	return c
}

// readOptions parses OPTION=VALUE.
func readOptions(set []string) (map[string]string, error) {
	options := make(map[string]string, len(set))
	for _, text := range set {
		name, value, ok := strings.Cut(text, "=")
		if _, twice := options[name]; !ok || name == "" || twice {
			return nil, cmdline.WrongUse("--set %s: write OPTION=VALUE, each option once, for example --set move-share=0.05", text)
		}
		options[name] = value
	}
	return options, nil
}

// showStrategies lists strategies. Unless `all` is set, it lists only the names of those that are for comparison, or that
// this cluster cannot use.
func showStrategies(s cmdline.Streams, v *api.StrategyList, all bool) error {
	var folded []string
	for i := range v.Strategies {
		n := &v.Strategies[i]
		if (n.Compared || n.Unusable != "") && !n.Current && !all {
			folded = append(folded, terminal.Printable(n.Name))
			continue
		}
		if err := showStrategy(s, n); err != nil {
			return err
		}
	}
	if folded != nil {
		fmt.Fprintf(s.Out, "For comparison only or not for this cluster, shown by --all: %s\n", strings.Join(folded, ", "))
	}
	return nil
}

func showStrategy(s cmdline.Streams, n *api.StrategyInfo) error {
	mark := ""
	if n.Current {
		mark = " (in use)"
	}
	fmt.Fprintf(s.Out, "%s%s: %s\n", terminal.Printable(n.Name), mark, terminal.Printable(n.Summary))
	if n.Unusable != "" {
		fmt.Fprintf(s.Out, "    not for this cluster: %s\n", terminal.Printable(n.Unusable))
	}
	if p := n.Prediction; p != nil && p.Failed != "" {
		fmt.Fprintf(s.Out, "    now: no plan: %s\n", terminal.Printable(p.Failed))
	} else if p != nil {
		fmt.Fprintf(s.Out, "    now: max/mean %.2f by %s, %s, %s of all weight\n", p.MaxOverMean,
			terminal.Many(uint64(p.Moves), "move"), terminal.Many(p.Items, "ad group"), terminal.Percent(p.Share))
	}
	if len(n.Options) == 0 {
		return nil
	}
	t := terminal.NewTable(s.Out, "    OPTION", "VALUE", "DEFAULT", "")
	for _, o := range n.Options {
		t.Row("    "+o.Name, o.Value, o.Default, o.Help)
	}
	return t.Flush()
}

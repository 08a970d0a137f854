package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"adshard/balance"
	"adshard/fault"
	"adshard/internal/outfile"
)

// Main runs adbench with the arguments of the process and returns its exit status: 0
// success, 1 failure, 2 invalid usage. The strategies in own can be compared by
// their names too (docs/strategies.md).
func Main(own ...balance.Strategy) (status int) {
	outfile.OwnerOnly()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	status = 2 // until a command is found and its flags are parsed
	root := Command(own...)
	root.PersistentPreRun = func(*cobra.Command, []string) { status = 1 }
	if err := root.ExecuteContext(ctx); err != nil {
		if ctx.Err() != nil && (errors.Is(err, context.Canceled) || fault.Is(err, fault.Cancelled)) {
			fmt.Fprintln(os.Stderr, "adbench: interrupted")
			return status
		}
		fmt.Fprintln(os.Stderr, "adbench:", err)
		return status
	}
	return 0
}

// Command returns the command adbench, which can also compare the strategies in own.
func Command(own ...balance.Strategy) *cobra.Command {
	root := &cobra.Command{
		Use:               "adbench",
		Short:             "Make corpora and measure",
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.AddCommand(
		CorpusCommand(), BuildCommand(), SearchCommand(), StoreCommand(), MemoryCommand(), ServeCommand(),
		ReplicasCommand(), GridCommand(), SizingCommand(), LoadCommand(), OverloadCommand(), FreshCommand(), FreshnessCommand(), HotCommand(), FirstFillCommand(), CopyCommand(),
		BalanceCommand(own...), PassesCommand(), PremiseCommand(), ExecutionsCommand(), SplitCommand(), ESDBCommand(), CountersCommand(), ClicksCommand(), FiguresCommand(), FiguresAgeCommand(), SpansCommand(),
	)
	return root
}

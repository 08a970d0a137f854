// Adbench makes corpora and measures: layouts, strategies, load.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"adshard/bench"
	"adshard/fault"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx))
}

// run returns the exit status: 0 success, 1 failure, 2 invalid usage.
func run(ctx context.Context) int {
	status := 2 // until a command was found and its flags were read
	root := &cobra.Command{
		Use:               "adbench",
		Short:             "Make corpora and measure",
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRun:  func(*cobra.Command, []string) { status = 1 },
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.AddCommand(
		bench.CorpusCommand(), bench.BuildCommand(), bench.SearchCommand(), bench.StoreCommand(), bench.MemoryCommand(), bench.ServeCommand(),
		bench.ReplicasCommand(), bench.GridCommand(), bench.SizingCommand(), bench.LoadCommand(), bench.OverloadCommand(), bench.FreshCommand(), bench.FirstFillCommand(), bench.CopyCommand(),
		bench.BalanceCommand(), bench.FiguresCommand(), bench.FiguresAgeCommand(),
	)
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

// The adshard program: all commands of a cluster and of its data.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"adshard/internal/cli"
)

func main() { os.Exit(run()) }

// run ends cleanly on the first SIGINT or SIGTERM. A second signal kills the process.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return cli.Main(ctx, "adshard", os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

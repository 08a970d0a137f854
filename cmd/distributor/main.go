// The distributor program: prepares data for slaves alongside the balancer.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/role/distributor"
)

func main() { os.Exit(run()) }

// run ends cleanly on the first SIGINT or SIGTERM. A second signal kills the process.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	s := cmdline.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	return cmdline.Main(ctx, distributor.Command(s), os.Args[1:], s)
}

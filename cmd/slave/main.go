//go:build cgo

// The slave program: keeps a part of the groups and searches it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"adshard/internal/cli"
)

func main() { os.Exit(run()) }

// run ends cleanly on SIGINT and SIGTERM; a second one kills.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return cli.Main(ctx, "slave", os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"adshard/internal/cli"
)

// asAdshard is the environment variable that makes this program run as adshard when it is called by that name. Its
// value gives the addresses for queries and of the admin port that replace the defaults, which another program may
// use.
const asAdshard = "SITE_ADDRESSES"

func TestMain(m *testing.M) {
	if addresses, ok := os.LookupEnv(asAdshard); ok && filepath.Base(os.Args[0]) == "adshard" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		defer stop()
		queries, admin, _ := strings.Cut(addresses, " ")
		os.Exit(cli.Main(ctx, "adshard", addressed(os.Args[1:], queries, admin), cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Exit(m.Run())
}

// addressed returns the arguments of a command, with these addresses in place of its defaults.
func addressed(args []string, queries, admin string) []string {
	byAdmin := []string{"slaves", "balance", "list", "get", "set", "pause", "resume", "export"}
	switch command := args[0]; {
	case queries == "":
	case command == "up":
		return append(args, "--http", queries, "--admin", admin)
	case command == "query":
		return append(args, "--addr", queries)
	case command == "doctor":
		return append(args, "--addr", admin, "--http", queries)
	case slices.Contains(byAdmin, command):
		return append(args, "--addr", admin)
	}
	return args
}

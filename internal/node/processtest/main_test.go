package processtest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"adshard/internal/node/balancer"
	"adshard/internal/node/collector"
	"adshard/internal/node/config"
	"adshard/internal/node/distributor"
	"adshard/internal/node/master"
	"adshard/internal/node/slave"
	"adshard/internal/node/up"
)

// TestMain runs the tests. If this program was started as a part of a cluster (COMMAND --config
// FILE), it runs that part.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[2] == "--config" {
		os.Exit(part(os.Args[1], os.Args[3]))
	}
	goleak.VerifyTestMain(m)
}

func part(command, file string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	log := slog.New(slog.DiscardHandler)
	if os.Getenv("PROCESSTEST_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("part", command)
	}
	err := fmt.Errorf("no such command %q", command)
	switch command {
	case "balancer":
		cfg := balancer.DefaultConfig()
		if err = config.Load(file, &cfg); err == nil {
			err = balancer.Run(ctx, cfg, os.Stdout, log)
		}
	case "collector":
		cfg := collector.DefaultConfig()
		if err = config.Load(file, &cfg); err == nil {
			err = collector.Run(ctx, cfg, os.Stdout, log)
		}
	case "distributor":
		cfg := distributor.DefaultConfig()
		if err = config.Load(file, &cfg); err == nil {
			err = distributor.Run(ctx, cfg, os.Stdout, log)
		}
	case "slave":
		cfg := slave.DefaultConfig()
		if err = config.Load(file, &cfg); err == nil {
			err = slave.Run(ctx, cfg, os.Stdout, log)
		}
	case "master":
		cfg := master.DefaultConfig()
		if err = config.Load(file, &cfg); err == nil {
			err = master.Run(ctx, cfg, os.Stdout, log)
		}
	case "up":
		cfg := up.DefaultConfig()
		if err = config.Load(file, &cfg); err == nil {
			err = up.Run(ctx, cfg, os.Stdout, log)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

package up

import (
	"context"
	"fmt"
	"strings"

	"adshard/internal/node/balancer"
	"adshard/internal/node/collector"
	"adshard/internal/node/distributor"
	"adshard/internal/node/master"
	"adshard/internal/node/slave"
)

// part is a part of the cluster that runs as a child process. When it is restarted, one child
// follows another.
type part struct {
	name, command string
	bulk          bool     // the part prepares data
	env           []string // nil means this process's environment
	// config points to the part's configuration.
	config any
	// listens waits until the child listens, and returns the text that up prints then. It sets the
	// addresses in config, so that a restarted child gets the same ones.
	listens func(context.Context, *child) (string, error)
	// admin is the URL of the admin port, which listens sets, or "" if there is no admin port.
	admin string
}

func balancerPart(cfg *balancer.Config) *part {
	p := &part{name: "balancer", command: "balancer", bulk: true, config: cfg}
	p.listens = func(ctx context.Context, c *child) (_ string, err error) {
		if p.admin, err = c.address(ctx, "admin ", &cfg.Admin); err != nil {
			return "", err
		}
		address, err := c.address(ctx, "balancer ready ", &cfg.Listen)
		return fmt.Sprintf("balancer pid %d ready %s\n", c.pid(), address), err
	}
	return p
}

func distributorPart(i int, cfg *distributor.Config) *part {
	return &part{name: cfg.Name, command: "distributor", bulk: true, config: cfg,
		listens: func(ctx context.Context, c *child) (string, error) {
			address, err := c.address(ctx, fmt.Sprintf("distributor %d listening ", i), &cfg.Listen)
			return fmt.Sprintf("distributor %d pid %d listening %s\n", i, c.pid(), address), err
		}}
}

func collectorPart(cfg *collector.Config) *part {
	p := &part{name: "collector", command: "collector", config: cfg}
	p.listens = func(ctx context.Context, c *child) (_ string, err error) {
		if p.admin, err = c.address(ctx, "admin ", &cfg.Admin); err != nil {
			return "", err
		}
		url, err := c.address(ctx, "collector listening ", &cfg.HTTP)
		text := fmt.Sprintf("collector pid %d", c.pid())
		if p.admin != "" {
			text += " admin " + p.admin
		}
		return fmt.Sprintf("%s listening %s\n", text, url), err
	}
	return p
}

func slavePart(i int, cfg *slave.Config) *part {
	return &part{name: cfg.Name, command: "slave", config: cfg,
		listens: func(ctx context.Context, c *child) (string, error) {
			address, err := c.address(ctx, fmt.Sprintf("slave %d listening ", i), &cfg.Listen)
			return fmt.Sprintf("slave %d pid %d listening %s\n", i, c.pid(), address), err
		}}
}

func masterPart(cfg *master.Config) *part {
	p := &part{name: "master", command: "master", config: cfg}
	p.listens = func(ctx context.Context, c *child) (_ string, err error) {
		if p.admin, err = c.address(ctx, "admin ", &cfg.Admin); err != nil {
			return "", err
		}
		calls, err := c.address(ctx, "grpc ", &cfg.GRPC)
		if err != nil {
			return "", err
		}
		if _, err = c.address(ctx, "master listening ", &cfg.HTTP); err != nil {
			return "", err
		}
		var text strings.Builder
		fmt.Fprintf(&text, "master pid %d", c.pid())
		if p.admin != "" {
			fmt.Fprintf(&text, " admin %s", p.admin)
		}
		text.WriteString("\n")
		if calls != "" {
			fmt.Fprintf(&text, "grpc %s\n", calls)
		}
		return text.String(), nil
	}
	return p
}

package balancer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"adshard/balance/strategy"
)

// strategyChoice names a strategy and the options that are set for it.
type strategyChoice struct {
	Name    string            `json:"name"`
	Options map[string]string `json:"options,omitempty"`
}

func (c strategyChoice) equal(d strategyChoice) bool {
	return c.Name == d.Name && maps.Equal(c.Options, d.Options)
}

// savedStrategy is a strategy set by command, in the form in which it is saved. It is valid as long
// as the configuration names the same strategy as when the command was given; a changed
// configuration takes precedence.
type savedStrategy struct {
	Configured strategyChoice `json:"configured"`
	Set        strategyChoice `json:"set"`
}

// strategyKey is the key of the saved strategy, next to the model's key.
const strategyKey = "/strategy"

// pauseKey is the key of the saved pause, next to the model's key. Its value is "paused" or empty.
const pauseKey = "/pause"

// savePause makes a pause or its end durable. Errors: those of saveStrategy.
func (t *leadership) savePause(ctx context.Context, paused bool) error {
	var text string
	if paused {
		text = "paused"
	}
	return t.Save(ctx, pauseKey, []byte(text))
}

// paused reports whether balancing was paused by command.
func (t *leadership) paused(ctx context.Context) (bool, error) {
	text, err := t.Load(ctx, pauseKey)
	if err != nil {
		return false, fmt.Errorf("load whether balancing is paused: %w", err)
	}
	return len(text) > 0, nil
}

func (b *Balancer) configured() strategyChoice {
	return strategyChoice{b.cfg.Strategy, b.cfg.StrategyOptions}
}

// strategy returns the strategy to start with. byCommand reports whether it was set by command and
// not by the configuration.
func (b *Balancer) strategy(ctx context.Context) (use strategyChoice, byCommand bool, err error) {
	use = b.configured()
	text, err := b.leadership.Load(ctx, strategyKey)
	if err != nil {
		return use, false, fmt.Errorf("load the strategy: %w", err)
	}
	var saved savedStrategy
	if len(text) == 0 {
		return use, false, nil
	}
	if err := json.Unmarshal(text, &saved); err != nil {
		b.log.Warn("the strategy set by command cannot be read; the configuration decides", "err", err)
		return use, false, nil
	}
	if saved.Set.Name == "" {
		return use, false, nil
	}
	if !saved.Configured.equal(use) { // the command stays void even if the configuration is changed back later
		b.log.Info("the configuration has changed since a strategy was set by command, and decides", "strategy", use.Name, "set", saved.Set.Name)
		return use, false, b.leadership.saveStrategy(ctx, savedStrategy{})
	}
	_, err = strategy.Named(saved.Set.Name, saved.Set.Options)
	if err == nil {
		err = strategy.CheckOrder(saved.Set.Name, b.order)
	}
	if err != nil {
		b.log.Warn("the strategy set by command is not available; the configuration decides", "err", err)
		return use, false, nil
	}
	return saved.Set, true, nil
}

// saveStrategy makes a choice durable. Errors: fault.Conflict if another balancer has taken over.
func (t *leadership) saveStrategy(ctx context.Context, c savedStrategy) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return t.Save(ctx, strategyKey, text)
}

package balancer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"adshard/balance/strategy"
)

// strategyChoice is a strategy with the options that are set.
type strategyChoice struct {
	Name    string            `json:"name"`
	Options map[string]string `json:"options,omitempty"`
}

func (c strategyChoice) equal(d strategyChoice) bool {
	return c.Name == d.Name && maps.Equal(c.Options, d.Options)
}

// savedStrategy is a strategy set by command, as it is kept in the database. It holds
// as long as the configuration says what it said then: one that was changed
// since is newer.
type savedStrategy struct {
	Configured strategyChoice `json:"configured"`
	Set        strategyChoice `json:"set"`
}

// strategyKey is under which, beside the model, a choice is kept.
const strategyKey = "/strategy"

func (b *Balancer) configured() strategyChoice {
	return strategyChoice{b.cfg.Strategy, b.cfg.StrategyOptions}
}

// strategy returns the strategy to begin with; told: it was set by command, not
// by configuration.
func (b *Balancer) strategy(ctx context.Context) (use strategyChoice, told bool, err error) {
	use = b.configured()
	text, err := b.db.LoadControl(ctx, b.tenure.key+strategyKey)
	if err != nil {
		return use, false, fmt.Errorf("load the strategy: %w", err)
	}
	var kept savedStrategy
	if len(text) == 0 {
		return use, false, nil
	}
	if err := json.Unmarshal(text, &kept); err != nil {
		b.log.Warn("the strategy set by command cannot be read; the configuration decides", "err", err)
		return use, false, nil
	}
	if kept.Set.Name == "" {
		return use, false, nil
	}
	if !kept.Configured.equal(use) { // and it stays forgotten if the configuration is changed back
		b.log.Info("the configuration has changed since a strategy was set by command, and decides", "strategy", use.Name, "set", kept.Set.Name)
		return use, false, b.saveStrategy(ctx, savedStrategy{})
	}
	_, err = strategy.Named(kept.Set.Name, kept.Set.Options)
	if err == nil {
		err = strategy.CheckOrder(kept.Set.Name, b.order)
	}
	if err != nil {
		b.log.Warn("the strategy set by command cannot be had; the configuration decides", "err", err)
		return use, false, nil
	}
	return kept.Set, true, nil
}

// saveStrategy makes a choice durable. Errors: fault.Conflict when another
// balancer has taken over.
func (b *Balancer) saveStrategy(ctx context.Context, c savedStrategy) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return b.tenure.save(ctx, strategyKey, text)
}

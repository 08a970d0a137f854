package balancer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"adshard/balance"
	"adshard/fault"
)

// settingsKey is appended to the state key for the settings of the balancer that leads, or led last.
const settingsKey = "/settings"

// agreed are the settings that all balancers of a cluster should have in common, since the cluster behaves differently after a takeover
// otherwise. Those of one process, such as its addresses and files, are not among them.
var agreed = []string{
	"order", "slaves", "replicas", "strategy", "strategy_options", "limits", "interval", "budget", "load_weights", "half_life", "dead_after", "evacuate_after",
	"master_lease", "linger", "scrub_interval", "scrub_share", "weights", "languages", "keep_changes", "reader_age", "discard_data_of", "currency",
}

// agreed returns the settings that should be the same, by key: words as they are, others as JSON.
func (c *Config) agreed(order balance.Order) (map[string]string, error) {
	text, err := yaml.Marshal(c)
	var all map[string]any
	if err == nil {
		err = yaml.Unmarshal(text, &all)
	}
	list := make(map[string]string, len(agreed))
	for _, key := range agreed {
		if word, ok := all[key].(string); ok {
			list[key] = word
		} else if err == nil {
			text, err = json.Marshal(all[key])
			list[key] = string(text)
		}
	}
	list["order"] = order.String() // the configuration may leave it out
	return list, err
}

// difference is a setting that differs from that of the balancer that leads.
type difference struct{ key, own, leads string }

func (d difference) String() string { return fmt.Sprintf("%s %s, there %s", d.key, d.own, d.leads) }

// noteSettings saves the settings of this balancer, which leads, for those that stand by. Nothing is decided by them, so a failure changes
// nothing.
func (b *Balancer) noteSettings(ctx context.Context) {
	own, err := b.cfg.agreed(b.order)
	var text []byte
	if err == nil {
		text, err = json.Marshal(own)
	}
	if err == nil {
		err = b.db.SaveControl(ctx, b.cfg.StateKey+settingsKey, text)
	}
	if err != nil {
		b.log.Info("the settings are not saved; balancers that stand by cannot compare theirs", "err", err)
	}
}

// compare returns the settings that differ from those of the balancer that leads. A key that it does not know is of another version.
func (h *Host) compare(ctx context.Context) (list []difference, err error) {
	text, err := h.db.LoadControl(ctx, h.cfg.StateKey+settingsKey)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	var leads map[string]string
	if err := json.Unmarshal(text, &leads); err != nil {
		return nil, fault.New(fault.Corrupt, "balancer: read settings", err)
	}
	own, err := h.cfg.agreed(h.order)
	if err != nil {
		return nil, err
	}
	for _, key := range agreed {
		if there, ok := leads[key]; ok && there != own[key] {
			list = append(list, difference{key, own[key], there})
		}
	}
	return list, nil
}

// watchSettings compares the settings with those of the leader, and logs what differs when that has changed. If they cannot be read, it
// leaves them as they were: what fails then is reported elsewhere.
func (h *Host) watchSettings(ctx context.Context, s *standby) {
	now, err := h.compare(ctx)
	if err != nil {
		return
	}
	old := s.differ.Swap(&now)
	if len(now) == 0 || old != nil && slices.Equal(*old, now) {
		return
	}
	texts := make([]string, len(now))
	for i, d := range now {
		texts[i] = d.String()
	}
	h.log.Warn("this balancer stands by and has other settings than the one that leads: give both the same configuration", "settings", strings.Join(texts, "; "))
}

package survey

import (
	"fmt"

	"adshard/balance"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/shell"
)

// targets lists the shards to which a slice could go, and why it may not go there.
func (m *Survey) targets(i int) []api.Target {
	s := m.In.Model.Slices()[i]
	out := []api.Target{}
	for _, sh := range m.In.Model.Shards() {
		if sh.ID == s.Target() || sh.State == balance.Drained {
			continue
		}
		t := api.Target{Slave: sh.Name, May: true, OverMean: m.OverMean(sh.ID, m.Loads[sh.ID]+m.Sums[i].Load)}
		if m.In.May != nil {
			t.May, t.Why = m.In.May(s.ID, sh.ID)
		}
		if t.May {
			t.Why = ""
		}
		out = append(out, t)
	}
	return out
}

// needs lists what would have to change before a slice moves.
func (m *Survey) needs(i int, targets []api.Target) []string {
	s, load := m.In.Model.Slices()[i], m.Sums[i].Load
	slave, over := m.Name(s.Shard), m.OverMean(s.Shard, m.Loads[s.Shard])
	if len(targets) == 0 {
		return []string{"there must be another slave: `adshard slaves add ADDR`"}
	}
	var best *api.Target
	for j := range targets {
		if t := &targets[j]; t.May && (best == nil || t.OverMean < best.OverMean) {
			best = t
		}
	}
	most := m.Even.Mean * m.share(s.Shard) * (1 + tolerance)
	switch {
	case best == nil:
		return []string{"one of the slaves above must become able to take it; each line says why it is not"}
	case over <= 1+tolerance:
		return []string{fmt.Sprintf("%s must carry more than %s, that is %.1f x the mean; it carries %s", slave, figure(most), 1+tolerance, figure(m.Loads[s.Shard]))}
	case best.OverMean >= over:
		return []string{fmt.Sprintf("it is too large to move: %s would have %.2f x the mean, %s has %.2f; it must cost less than %s, or be split",
			best.Slave, best.OverMean, slave, over, figure(m.fits(s.Shard, best.Slave)))}
	case load < small*m.Even.Mean:
		return []string{fmt.Sprintf("it must cost more to be worth a move: it is %.2f %% of the mean", 100*load/m.Even.Mean)}
	}
	return []string{fmt.Sprintf("nothing: it could go to %s, which would then have %.2f x the mean; the strategy prefers other slices, `adshard balance move %d %s` moves it by hand",
		best.Slave, best.OverMean, s.ID, shell.Word(best.Slave))}
}

// fits returns the load that a target can take from a shard until both are equally loaded.
func (m *Survey) fits(from balance.ShardID, to string) float64 {
	sh, _ := m.In.Model.Named(to)
	return max(0, m.Loads[from]/m.share(from)*m.share(sh.ID)-m.Loads[sh.ID])
}

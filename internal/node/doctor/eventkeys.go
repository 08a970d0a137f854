package doctor

import (
	"maps"
	"slices"
)

// eventKeys finds collectors that do not have any key of the masters. Keys change once a day, and an old one
// stays known for hours. It compares the keys once both sides have some.
func (e *examination) eventKeys() {
	keys := where("adshard_event_key", "of", "master|collector")
	masters, collectors := make(map[string]bool), make(map[string][]string)
	for _, p := range e.now.Ports {
		for i := range p.Metrics {
			s := &p.Metrics[i]
			switch {
			case !keys.fits(s):
			case s.Labels["of"] == "master":
				masters[s.Labels["key"]] = true
			default:
				collectors[s.Labels["node"]] = append(collectors[s.Labels["node"]], s.Labels["key"])
			}
		}
	}
	if len(masters) == 0 {
		return
	}
	for _, node := range slices.Sorted(maps.Keys(collectors)) {
		if !slices.ContainsFunc(collectors[node], func(key string) bool { return masters[key] }) {
			e.add(Data, "AdshardEventsRejected", node, node+" has none of the masters' keys of event tokens: it takes all events for forged",
				"set its `state_key` and `db` to the balancer's; beside `adshard up` use the `--collector` of that")
		}
	}
}

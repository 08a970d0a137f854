package doctor

import (
	"fmt"
	"strings"
)

// settings finds balancers that stand by with other settings than the one that leads.
func (e *examination) settings() {
	for i, p := range e.now.Ports {
		var differ []string
		for j := range p.Metrics {
			if s := &p.Metrics[j]; s.Name == "adshard_balancer_setting_differs" && s.Value > 0 {
				differ = append(differ, fmt.Sprintf("%s is %s, there %s", s.Labels["setting"], s.Labels["own"], s.Labels["leads"]))
			}
		}
		if len(differ) > 0 {
			e.add(Reserve, "AdshardSettingsDiffer", e.nodes[i],
				fmt.Sprintf("the balancer at %s stands by and has other settings than the one that leads: %s", p.Address, strings.Join(differ, "; ")),
				"give both the same configuration, and restart the one that had the wrong one; otherwise the cluster behaves differently after a takeover")
		}
	}
}

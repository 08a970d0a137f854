package console

import (
	"net/http"
	"time"

	"adshard/internal/node/httpapi/api"
)

// balancing is the content of the page on balancing: the strategy in use, what it would do now,
// what the other strategies would do, and the slaves.
type balancing struct {
	Status     *api.BalanceStatus
	Plan       *api.BalancePlan
	Strategies []api.StrategyInfo // all but those in Folded
	Folded     []api.StrategyInfo // not in use, and for comparison only or not usable in this cluster
	Current    *api.StrategyInfo  // nil as long as there is no plan
	Slaves     []replica
	Replicated bool   // shards have several slaves, and names of their own
	Chart      *chart // nil while there is nothing to draw
	// NoPlan says why there is no plan, or "" if there is one.
	NoPlan string
}

func (c *Console) balancing(w http.ResponseWriter, r *http.Request) {
	c.showBalancing(w, r, http.StatusOK, "")
}

// showBalancing shows the page. `trouble` says why a form was refused, and `status` is that error's
// status.
func (c *Console) showBalancing(w http.ResponseWriter, r *http.Request, status int, trouble string) {
	b, err := c.lookAtBalancing(r)
	if err != nil {
		c.refusedBy(w, r, err)
		return
	}
	c.show(w, r, status, "balancing", page{Title: "Balancing", Refresh: rarely, Content: b, Trouble: trouble, Done: done(r)})
}

func (c *Console) lookAtBalancing(r *http.Request) (*balancing, error) {
	status, err := get[api.BalanceStatus](c, r, "/v1/balance")
	if err != nil {
		return nil, err
	}
	strategies, err := get[api.StrategyList](c, r, "/v1/balance/strategies")
	if err != nil {
		return nil, err
	}
	list, err := get[api.SlaveList](c, r, "/v1/slaves")
	if err != nil {
		return nil, err
	}
	past, err := get[api.BalanceHistory](c, r, "/v1/balance/history")
	if err != nil {
		return nil, err
	}
	b := &balancing{Status: status, Chart: balanceChart(past, time.Now(), true)}
	for _, s := range strategies.Strategies {
		if s.Current {
			b.Current = &s
		}
		if (s.Compared || s.Unusable != "") && !s.Current {
			b.Folded = append(b.Folded, s)
		} else {
			b.Strategies = append(b.Strategies, s)
		}
	}
	for _, s := range list.Slaves {
		b.Slaves, b.Replicated = append(b.Slaves, newReplica(s, list.Clock)), b.Replicated || s.Shard != "" && s.Shard != s.Name
	}
	if b.Plan, err = get[api.BalancePlan](c, r, "/v1/balance/plan"); err != nil {
		b.Plan, b.NoPlan = nil, err.Error()
	}
	return b, nil
}

// strategyRow is a row of the table of strategies, with a form for those who may switch to it.
type strategyRow struct {
	api.StrategyInfo
	Operator bool
}

func newStrategyRow(s api.StrategyInfo, operator bool) strategyRow {
	return strategyRow{StrategyInfo: s, Operator: operator}
}
